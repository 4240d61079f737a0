import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readId, type System, showId } from "@bursar/protocol";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import {
  listValidTokenKeys,
  prepareTokenKeys,
  rotateTokenKeys,
  scheduledTokenKeys,
} from "../../../src/credentials/token-keys.js";
import { createTokenKeyStore } from "../../../src/store/access/tokens.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { readMetrics } from "../../harness/metrics.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

describe("a key for access tokens that the role of the service has inserted by hand", () => {
  let service: TestService;
  let role: ServiceRole;
  let owner: TestClient;
  let token: string;
  const inserted = generateKeyPairSync("ed25519");
  const ids = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  const kids = ids.map((id) => showId("key", id));
  beforeAll(async () => {
    service = await startTestService({});
    role = await createServiceRole(service.database);
    owner = await service.createTenant("100");
    token = await service.token(owner);
    const publicKey = Buffer.from(inserted.publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    // The sealed half of another key, with times at which it would sign, or would have replaced that key long ago.
    const times = ["now()", "now() - interval '50 minutes'", "'infinity'"];
    for (const [index, time] of times.entries())
      await role.run(`
        INSERT INTO token_keys (id, public_key, private_key, active_from)
        SELECT '${ids[index]}', '\\x${publicKey.toString("hex")}', private_key, ${time} FROM token_keys
        ORDER BY id <> '${readId("key", decodeProtectedHeader(token).kid ?? "")}' LIMIT 1`);
  });
  afterAll(async () => {
    await role?.drop();
    await service?.stop();
  });

  const system = async (by = token) => {
    const response = await service.call("GET", "/v1/system", by);
    return { status: response.status, body: (await response.json()) as System };
  };

  it("is left out and shown, and stops nothing", async () => {
    const { body } = await eventually(
      () => system(),
      ({ status, body }) => status !== 200 || body.keys.token_unreadable.length > 0,
    );
    expect([...body.keys.token_unreadable].sort()).toEqual([...kids].sort());
    expect(body.keys.token).toEqual([decodeProtectedHeader(token).kid]);
    expect((await readMetrics(service)).value("bursar_unreadable_token_keys")).toBe(3);
    const lines = service.logLines.filter((line) =>
      line.includes("does not decrypt a key for access tokens"),
    );
    expect(lines).toHaveLength(1);
    expect((await service.call("GET", "/readyz", undefined)).status).toBe(200);
    const wallets = (await (await service.call("GET", "/v1/wallets", token)).json()) as {
      data: { id: string }[];
    };
    const again = await service.token(owner);
    const frozen = await service.call("POST", `/v1/wallets/${wallets.data[0]?.id}/freeze`, again, {});
    expect(frozen.status).toBe(200);
  });

  it("is not published and verifies nothing", async () => {
    const published = await service.call("GET", "/.well-known/jwks.json", undefined);
    const { keys } = (await published.json()) as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toEqual([decodeProtectedHeader(token).kid]);
    for (const kid of kids) {
      const forged = await new SignJWT(decodeJwt(token))
        .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", kid })
        .sign(inserted.privateKey);
      expect((await system(forged)).status).toBe(401);
    }
  });

  it("does not keep another process from its start", async () => {
    const other = await service.another();
    try {
      expect((await other.call("GET", "/v1/system", token)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it("keeps no key from being replaced, retires none, and is listed as not used", async () => {
    const store = createTokenKeyStore(service.keyed);
    const sealing = createSealing(createKeyring([service.masterKey]));
    const newUuid = () => crypto.randomUUID();
    const { added, removed, unreadable } = await rotateTokenKeys(store, sealing, newUuid, Date.now);
    expect([removed, [...unreadable].sort()]).toEqual([[], [...ids].sort()]);
    const listed = scheduledTokenKeys(await listValidTokenKeys(store), sealing, Date.now());
    const roleOf = (id: string) => listed.find((key) => key.id === id)?.role;
    expect(roleOf(added.id)).toBe("published, signs later");
    expect(roleOf(readId("key", decodeProtectedHeader(token).kid ?? "") ?? "")).toBe("signs");
    expect(new Set(ids.map(roleOf))).toEqual(new Set(["not used: the master key does not decrypt it"]));
  });

  it("is not mistaken for a wrong master key, with which nothing starts", async () => {
    const store = createTokenKeyStore(service.keyed);
    const wrong = createSealing(createKeyring([randomBytes(32)]));
    const newUuid = () => crypto.randomUUID();
    const refused = "The master key does not decrypt the keys in this database.";
    await expect(prepareTokenKeys(store, wrong, newUuid, Date.now)).rejects.toThrow(refused);
    await expect(rotateTokenKeys(store, wrong, newUuid, Date.now)).rejects.toThrow(refused);
  });
});
