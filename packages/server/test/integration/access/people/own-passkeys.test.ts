import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import {
  type Authenticator,
  createAuthenticator,
  type Faults,
} from "../../../harness/people/authenticator.js";
import {
  callConfirmed,
  callConsole,
  consoleOriginOf,
  cookieOf,
  logInWith,
  registerWith,
  tokenOf,
} from "../../../harness/people/log-in.js";
import { sharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await sharedService();

interface Shown {
  id: string;
  name: string;
  error?: { code: string };
}

function rsaOf(modulusBytes: number, exponent = Buffer.from([1, 0, 1])): Faults {
  return { rsa: { modulus: Buffer.alloc(modulusBytes, 0xc3), exponent } };
}

function ed25519Key(): Buffer {
  return generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
}

describe("a person's own passkeys", () => {
  let owner: TestClient;
  let ada: { token: string; cookie: string; authenticator: Authenticator };
  const join = async (email: string) => {
    const link = await service.inviteAsOperator(owner, { email, name: "Ada", role: "approver" });
    const { cookie, authenticator } = await registerWith(service, link);
    return { token: await tokenOf(service, cookie), cookie, authenticator };
  };
  beforeEach(async () => {
    owner = await service.createTenant();
    ada = await join("ada@treasury.example");
  });

  const read = async (answer: Response) => {
    const text = await answer.text();
    const body = (text === "" ? {} : JSON.parse(text)) as Shown & { data: Shown[] };
    return { status: answer.status, body, code: body.error?.code };
  };
  const list = async () => (await read(await service.call("GET", "/v1/me/passkeys", ada.token))).body.data;
  const options = async (as = ada.token) =>
    (await (await service.call("POST", "/v1/me/passkeys/options", as)).json()) as {
      challenge: string;
      user_handle: string;
    };
  const adding = { id: "addOwnPasskey", method: "POST", path: "/v1/me/passkeys" };
  const create = async (given?: { challenge: string; user_handle: string }) => {
    const authenticator = createAuthenticator(consoleOriginOf(service));
    return { authenticator, body: { name: "Key", ...authenticator.register(given ?? (await options())) } };
  };
  const renaming = (id: string) => ({
    ...{ id: "renameOwnPasskey", method: "PATCH", path: `/v1/me/passkeys/${id}` },
  });
  const removing = (id: string) => ({
    ...{ id: "removeOwnPasskey", method: "DELETE", path: `/v1/me/passkeys/${id}` },
  });

  it("are added with one that is there, once, and log in", async () => {
    const { authenticator, body } = await create();
    const bare = await read(await service.call("POST", adding.path, ada.token, body));
    expect(bare.code).toBe("PASSKEY_REQUIRED");
    // The new one does not confirm itself.
    const itself = await read(await callConfirmed(service, { ...ada, authenticator }, adding, body));
    expect(itself.code).toBe("PASSKEY_INVALID");
    const added = await read(await callConfirmed(service, ada, adding, body));
    expect([added.status, added.body.name]).toEqual([201, "Key"]);
    const again = await read(await callConfirmed(service, ada, adding, body));
    expect([again.status, again.body.id]).toEqual([201, added.body.id]);
    expect((await list()).map(({ name }) => name)).toEqual(["Laptop", "Key"]);
    expect((await logInWith(service, authenticator)).status).toBe(201);
  });

  it("are not added with a challenge of somebody else, of a login, or by a program", async () => {
    const grace = await join("grace@treasury.example");
    const login = (await callConsole(service, "POST", "/challenge")).body["challenge"] as string;
    for (const challenge of [(await options(grace.token)).challenge, login]) {
      const { body } = await create({ ...(await options()), challenge });
      expect((await read(await callConfirmed(service, ada, adding, body))).code).toBe("PASSKEY_INVALID");
    }
    const { body } = await create();
    const token = await service.token(owner);
    expect((await read(await service.call("POST", adding.path, token, body))).code).toBe("PERSON_NOT_FOUND");
    expect((await read(await service.call("POST", `${adding.path}/options`, token))).code).toBe(
      "PERSON_NOT_FOUND",
    );
  });

  it.each<[what: string, status: number, faults: Faults]>([
    ["RSA with 4096 bits", 201, rsaOf(512)],
    ["RSA with more bits", 403, rsaOf(2048)],
    ["RSA with an exponent that takes long to verify with", 403, rsaOf(384, Buffer.alloc(384, 0x7f))],
    ["RSA with an exponent that anybody can sign for", 403, rsaOf(256, Buffer.from([1]))],
    ["Ed25519", 201, { ed25519: ed25519Key() }],
    [
      "Ed25519 with a point that anybody can sign for",
      403,
      { ed25519: Buffer.from([1, ...Buffer.alloc(31)]) },
    ],
  ])("are such as devices make: %s is answered with %i", async (_, status, faults) => {
    const authenticator = createAuthenticator(consoleOriginOf(service));
    const body = { name: "Odd", ...authenticator.register(await options(), faults) };
    expect((await callConfirmed(service, ada, adding, body)).status).toBe(status);
  });

  it("say little about how they were made, because it takes long to read", async () => {
    const { body } = await create();
    const long = { ...body, attestation_object: "A".repeat(8193) };
    expect((await callConfirmed(service, ada, adding, long)).status).toBe(400);
  });

  it("are renamed, and removed except the last, with which their sessions end", async () => {
    const { authenticator, body } = await create();
    const added = (await read(await callConfirmed(service, ada, adding, body))).body;
    const bare = await service.call("PATCH", renaming(added.id).path, ada.token, { name: "Laptop" });
    expect((await read(bare)).code).toBe("PASSKEY_REQUIRED");
    const renamed = await callConfirmed(service, ada, renaming(added.id), { name: "Safe" });
    expect(await renamed.json()).toMatchObject({ id: added.id, name: "Safe" });
    const opened = await logInWith(service, authenticator);
    const token = await tokenOf(service, opened.cookie);
    const [first] = await list();
    expect((await read(await service.call("DELETE", removing(added.id).path, ada.token))).code).toBe(
      "PASSKEY_REQUIRED",
    );
    expect((await callConfirmed(service, ada, removing(added.id))).status).toBe(204);
    await eventually(
      async () => (await service.call("GET", "/v1/me", token)).status,
      (status) => status === 401,
    );
    expect((await callConsole(service, "POST", "/token", undefined, cookieOf(opened.cookie))).code).toBe(
      "SESSION_REQUIRED",
    );
    expect((await logInWith(service, authenticator)).code).toBe("PASSKEY_INVALID");
    expect((await read(await callConfirmed(service, ada, removing(first?.id ?? "")))).code).toBe(
      "PASSKEY_IS_LAST",
    );
    expect((await read(await callConfirmed(service, ada, removing(added.id)))).code).toBe(
      "CREDENTIAL_NOT_FOUND",
    );
    // Nobody renames the passkey of somebody else.
    const grace = await join("grace@treasury.example");
    const foreign = await callConfirmed(service, grace, renaming(first?.id ?? ""), { name: "x" });
    expect((await read(foreign)).code).toBe("CREDENTIAL_NOT_FOUND");
  });
});

describe("webhook endpoints", () => {
  it("are enabled and disabled by a person with a passkey", async () => {
    const owner = await service.createTenant();
    const link = await service.inviteAsOperator(owner, {
      ...{ email: "dev@treasury.example", name: "Dev", role: "developer" },
    });
    const { cookie, authenticator } = await registerWith(service, link);
    const dev = { token: await tokenOf(service, cookie), authenticator };
    const body = { url: "https://receiver.example/hook" };
    const operation = { id: "createWebhookEndpoint", method: "POST", path: "/v1/webhook-endpoints" };
    const { id } = (await (await callConfirmed(service, dev, operation, body)).json()) as { id: string };
    for (const verb of ["disable", "enable"]) {
      const path = `/v1/webhook-endpoints/${id}/${verb}`;
      expect((await service.call("POST", path, dev.token)).status).toBe(403);
      const confirmed = { id: `${verb}WebhookEndpoint`, method: "POST", path };
      expect((await callConfirmed(service, dev, confirmed)).status).not.toBe(403);
    }
  });
});
