import { createHash, createPublicKey, verify } from "node:crypto";
import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { challengeOf, contentOfChallenge } from "../../../../src/app/people/step-up.js";
import { eventually } from "../../../harness/eventually.js";
import { type Authenticator, passkeyHeader } from "../../../harness/people/authenticator.js";
import { registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { sharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await sharedService();

const guarded = { rules: [], default: { action: "require_approval", approvals: 1 } };

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

interface Person {
  token: string;
  authenticator: Authenticator;
}

describe("the challenge of a request", () => {
  it("is the one of the documentation", () => {
    const act = {
      act: "transaction.approve",
      target: "tx_01m7hv29e0ft9aa6d3rfpaz6r9",
      digest: "ab".repeat(32),
    };
    const [tenant, person] = ["tnt_01m4av5he0f7d8dmthsyd7cgpr", "cli_01m5yb40c8e0nr4ym1c81ay6pb"];
    const client = { tenantId: readId("tnt", tenant) ?? "", id: readId("cli", person) ?? "" };
    const content = contentOfChallenge(client, act, "2026-01-01T12:00:00.000Z");
    expect(challengeOf(content)).toBe(
      createHash("sha256")
        .update(
          `bursar-passkey-v2\n${tenant}\n${person}\ntransaction.approve\n${act.target}\n${act.digest}\n2026-01-01T12:00:00.000Z`,
        )
        .digest("base64url"),
    );
    expect(challengeOf(content)).toBe("wbDCndW6d5uBuSL-PhLNjZEhHtvfvyFUs3qwmt0AVnQ");
  });
});

describe("a person", () => {
  let owner: TestClient;
  let token: string;
  let transaction: { id: string; digest: string };
  let ada: Person;
  beforeEach(async () => {
    owner = await service.createTenant("100");
    token = await service.token(owner);
    const put = await service.call("PUT", "/v1/policy", token, guarded, { "if-match": '"0"' });
    expect(put.status).toBe(200);
    ada = await join("approver");
    transaction = await pay();
  });

  const join = async (role: string, email = `${role}@treasury.example`): Promise<Person> => {
    const invited = await service.inviteAsOperator(owner, { email, name: "Ada", role });
    const { cookie, authenticator } = await registerWith(service, invited);
    return { token: await tokenOf(service, cookie), authenticator };
  };
  const pay = async () => {
    const body = { reference: "r", asset: "USD", amount: "1" };
    const key = { "idempotency-key": crypto.randomUUID(), prefer: "wait=5" };
    const { id } = (await (await service.call("POST", "/v1/transactions", token, body, key)).json()) as {
      id: string;
    };
    for (;;) {
      const read = await service.call("GET", `/v1/transactions/${id}`, token);
      const { approval } = (await read.json()) as { approval: { digest: string } | null };
      if (approval !== null && approval !== undefined) return { id, digest: approval.digest };
    }
  };
  const decide = async (person: Person, header: string | undefined, decision = "approve") => {
    const path = `/v1/transactions/${transaction.id}/approvals`;
    const body = { decision, digest: transaction.digest };
    const answer = await service.call(
      "POST",
      path,
      person.token,
      body,
      header === undefined ? {} : { "bursar-passkey": header },
    );
    const read = (await answer.json()) as { error?: { code: string } };
    return [answer.status, read.error?.code];
  };
  const approval = (digest = transaction.digest, decision = "approve", target = transaction.id) => ({
    act: `transaction.${decision}`,
    target,
    digest,
  });

  it("approves with a passkey, and anyone can verify that later", async () => {
    expect(await decide(ada, undefined)).toEqual([403, "PASSKEY_REQUIRED"]);
    expect(await decide(ada, passkeyHeader(ada, approval()))).toEqual([202, undefined]);
    const listed = await service.call("GET", `/v1/transactions/${transaction.id}/approvals`, token);
    const { data } = (await listed.json()) as {
      data: {
        signature: {
          algorithm: string;
          public_key: string;
          signature_input: string;
          signature: string;
          base: string;
        };
      }[];
    };
    const evidence = data[0]?.signature;
    if (evidence === undefined) throw new Error("no evidence");
    expect(evidence.algorithm).toBe("passkey");
    expect(evidence.signature_input).toContain(
      `transaction.approve\n${transaction.id}\n${transaction.digest}`,
    );
    const base = JSON.parse(evidence.base) as { client_data: string; authenticator_data: string };
    const clientData = Buffer.from(base.client_data, "base64url");
    const { challenge } = JSON.parse(clientData.toString()) as { challenge: string };
    expect(challenge).toBe(createHash("sha256").update(evidence.signature_input).digest("base64url"));
    // The coordinates of a P-256 key in COSE.
    const cose = Buffer.from(evidence.public_key, "base64url");
    const at = (label: number) => cose.indexOf(Buffer.from([label, 0x58, 0x20])) + 3;
    const [x, y] = [at(0x21), at(0x22)].map((from) => cose.subarray(from, from + 32).toString("base64url"));
    const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, format: "jwk" });
    const signed = Buffer.concat([
      Buffer.from(base.authenticator_data, "base64url"),
      createHash("sha256").update(clientData).digest(),
    ]);
    expect(verify("sha256", signed, key, Buffer.from(evidence.signature, "base64url"))).toBe(true);
  });

  it("freezes a wallet at once, and unfreezes it with a passkey", async () => {
    const read = await service.call("GET", "/v1/wallets?limit=1", token);
    const { data } = (await read.json()) as { data: { id: string }[] };
    const id = data[0]?.id ?? "";
    const admin = await join("admin");
    const send = async (verb: string, act?: string) => {
      const digest = createHash("sha256").update("").digest("hex");
      const headers: Record<string, string> =
        act === undefined
          ? {}
          : {
              "bursar-passkey": passkeyHeader(admin, {
                act,
                target: `/v1/wallets/${id}/unfreeze`,
                digest,
              }),
            };
      const path = `/v1/wallets/${id}/${verb}`;
      return (await service.call("POST", path, admin.token, undefined, headers)).status;
    };
    expect(await send("freeze")).toBe(200);
    expect(await send("unfreeze")).toBe(403);
    expect(await send("unfreeze", "freezeWallet")).toBe(403);
    expect(await send("unfreeze", "unfreezeWallet")).toBe(200);
  });

  it("approves what was requested before the link was used, and not what was requested before it was made", async () => {
    const invited = await service.inviteAsOperator(owner, {
      ...{ email: "early@treasury.example", name: "Early", role: "approver" },
    });
    transaction = await pay();
    const late = await join("approver", "late@treasury.example");
    expect(await decide(late, passkeyHeader(late, approval()))).toEqual([403, "APPROVER_NOT_INDEPENDENT"]);
    const { cookie, authenticator } = await registerWith(service, invited);
    const early = { token: await tokenOf(service, cookie), authenticator };
    expect(await decide(early, passkeyHeader(early, approval()))).toEqual([202, undefined]);
  });

  it("approves with another person what a rule wants people for, and no program does", async () => {
    const rule = { name: "large", when: {}, action: "require_approval", approvals: 2 };
    const put = async (more: object, version: number) => {
      const policy = { rules: [{ ...rule, ...more }], default: { action: "allow" } };
      const headers = { "if-match": `"${version}"` };
      expect((await service.call("PUT", "/v1/policy", token, policy, headers)).status).toBe(200);
    };
    await put({}, 1);
    const grace = await join("approver", "grace@treasury.example");
    const [first, second] = [
      await service.createIndependentClient(owner, ["transactions:approve"]),
      await service.createIndependentClient(owner, ["transactions:approve"]),
    ];
    transaction = await pay();
    const say = (as: string) =>
      service.call("POST", `/v1/transactions/${transaction.id}/approvals`, as, {
        decision: "approve",
        digest: transaction.digest,
      });
    const read = async () =>
      (await (await service.call("GET", `/v1/transactions/${transaction.id}`, token)).json()) as {
        state: string;
      };
    // What a program has approved before does not count any more, so that Ada's approval is the first.
    expect((await say(first.token)).status).toBe(202);
    await put({ people: true }, 2);
    const body = { transaction: { reference: "r", asset: "USD", amount: "1" } };
    const evaluated = await service.call("POST", "/v1/policy/evaluate", token, body);
    expect(await evaluated.json()).toMatchObject({ approval: { approvals: 2, people: true } });
    expect(await (await say(second.token)).json()).toMatchObject({
      error: { code: "POLICY_REJECTED", message: expect.stringContaining("approvals by people") },
    });
    expect(await decide(ada, passkeyHeader(ada, approval()))).toEqual([202, undefined]);
    const seen = await service.call("GET", `/v1/transactions/${transaction.id}`, token);
    await service.call("GET", `/v1/transactions/${transaction.id}`, token, undefined, {
      ...{ "if-none-match": seen.headers.get("etag") ?? "", prefer: "wait=1" },
    });
    expect((await read()).state).toBe("awaiting_approval");
    expect(await decide(grace, passkeyHeader(grace, approval()))).toEqual([202, undefined]);
    await eventually(read, ({ state }) => state === "completed");
  });

  it("is refused with an assertion for something else", async () => {
    const late = new Date(Date.now() - 6 * 60_000).toISOString();
    const now = new Date().toISOString();
    const grace = await join("approver", "grace@treasury.example");
    const refused: [string, string][] = [
      ["another digest", passkeyHeader(ada, approval("0".repeat(64)))],
      ["another decision", passkeyHeader(ada, approval(transaction.digest, "reject"))],
      [
        "another transaction",
        passkeyHeader(ada, approval(transaction.digest, "approve", "tx_01m7hv29e0ft9aa6d3rfpaz6r9")),
      ],
      ["another person", passkeyHeader(grace, approval())],
      ["another origin", passkeyHeader(ada, approval(), now, { origin: "https://evil.example" })],
      ["another rpId", passkeyHeader(ada, approval(), now, { rpId: "evil.example" })],
      ["no user verification", passkeyHeader(ada, approval(), now, { isUserVerified: false })],
      ["an old time", passkeyHeader(ada, approval(), late)],
      ["nonsense", "bm9uc2Vuc2U"],
    ];
    for (const [name, header] of refused)
      expect([name, ...(await decide(ada, header))]).toEqual([name, 403, "PASSKEY_INVALID"]);
    const header = passkeyHeader(ada, approval());
    expect(await decide(ada, header)).toEqual([202, undefined]);
    expect(await decide(ada, header)).toEqual([403, "PASSKEY_INVALID"]);
    // The same bytes in other characters, which a decoder takes for the same.
    const given = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, string>;
    for (const member of ["client_data", "authenticator_data"]) {
      const value = given[member] ?? "";
      const last = base64url.indexOf(value.at(-1) ?? "");
      const others = [`${value}A`, ...[1, 2, 3].map((bits) => value.slice(0, -1) + base64url[last ^ bits])];
      for (const other of others) {
        const changed = Buffer.from(JSON.stringify({ ...given, [member]: other })).toString("base64url");
        expect([other, ...(await decide(ada, changed))]).toEqual([other, 403, "PASSKEY_INVALID"]);
      }
    }
  });

  it("changes roles with a passkey that covers the body, which programs are not asked for", async () => {
    const admin = await join("admin");
    const body = { name: "reader", scopes: ["wallets:read"] };
    const digest = createHash("sha256").update(JSON.stringify(body)).digest("hex");
    const header = (given = digest) =>
      passkeyHeader(admin, { act: "createRole", target: "/v1/roles", digest: given });
    const create = async (value: object, given?: string) =>
      (
        await service.call(
          "POST",
          "/v1/roles",
          admin.token,
          value,
          given === undefined ? {} : { "bursar-passkey": given },
        )
      ).status;
    expect(await create(body)).toBe(403);
    expect(await create({ ...body, scopes: ["wallets:write"] }, header())).toBe(403);
    expect(await create(body, header())).toBe(201);
    expect((await service.call("POST", "/v1/roles", token, { ...body, name: "other" })).status).toBe(201);
  });
});
