import { createHash, createPublicKey, generateKeyPairSync, hash, verify } from "node:crypto";
import { approvalContent, type PolicyDocument } from "@bursar/domain";
import { type ApprovalRecords, readId, type Transaction } from "@bursar/protocol";
import { createVerifier, httpbis } from "http-message-signatures";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { shortLivedToken } from "../../harness/access/short-lived-token.js";
import { blocksOf, readPage } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { newKeyPair, type SigningKey, signedPost } from "../../harness/http/signed-call.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

const policy = (more: object = {}): PolicyDocument => ({
  rules: [{ name: "all", when: {}, action: "require_approval", approvals: 1, ...more }],
  default: { action: "allow" },
});

describe("a signed approval", () => {
  let tenant: PolicyTenant;
  let anna: { id: string; token: string };
  let keyId: string;
  const pair = generateKeyPairSync("ed25519");

  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
    anna = await tenant.addClient("anna");
    keyId = await tenant.addKey(anna, String(pair.publicKey.export({ format: "jwk" }).x));
  });

  const ask = async () => {
    const { id } = (await (await tenant.create("5000")).json()) as Transaction;
    return await tenant.settled(id, "awaiting_approval");
  };
  const approveSigned = (
    { id, approval }: Transaction,
    token = anna.token,
    key: SigningKey = { keyId, privateKey: pair.privateKey },
  ) =>
    signedPost(`${service.url}/v1/transactions/${id}/approvals`, token, key, {
      decision: "approve",
      digest: approval?.digest,
    });
  const evidence = async (id: string) =>
    (await (
      await service.call("GET", `/v1/transactions/${id}/approvals`, tenant.token)
    ).json()) as ApprovalRecords;

  it("stands beside an unsigned one of the same approver, so that it counts where that does not", async () => {
    await tenant.usePolicy(policy({ approvals: 2 }));
    const ben = await tenant.addClient("ben");
    const benKey = newKeyPair();
    const benKeyId = await tenant.addKey(ben, benKey.publicKey);
    const waiting = await ask();
    const approve = () => tenant.say(anna, waiting.id, waiting.approval?.digest ?? "");
    expect((await approve()).status).toBe(202);
    const current = await service.call("GET", "/v1/policy", tenant.token);
    const headers = { "if-match": current.headers.get("etag") ?? "" };
    const stricter = policy({ approvals: 2, signed: true });
    expect((await service.call("PUT", "/v1/policy", tenant.token, stricter, headers)).status).toBe(200);
    expect((await approve()).status).toBe(403);
    for (const _repeat of [1, 2]) expect((await approveSigned(waiting)).status).toBe(202);
    const { data } = await evidence(waiting.id);
    expect(data.map(({ signature }) => signature !== null)).toEqual([false, true]);
    const key = { keyId: benKeyId, privateKey: benKey.privateKey };
    expect((await approveSigned(waiting, ben.token, key)).status).toBe(202);
    await tenant.settled(waiting.id, "completed");
  });

  it("is stored so that an independent library verifies it later", async () => {
    await tenant.usePolicy(policy());
    const waiting = await ask();
    const token = await shortLivedToken(service, anna.token);
    expect((await approveSigned(waiting, token)).status).toBe(202);
    const done = await tenant.settled(waiting.id, "completed");
    expect(done.approval?.decisions).toMatchObject([{ client_id: anna.id, signed: true }]);
    const { digest, content, data } = await eventually(
      () => evidence(waiting.id),
      (shown) => shown.data[0]?.signature?.base !== null,
    );
    expect((await service.call("GET", "/v1/me", token)).status).toBe(401);
    const [signature] = data.map((one) => one.signature);
    expect(signature?.key_id).toBe(keyId);
    if (signature?.base == null) throw new Error("there is no base");
    expect(hash("sha256", content, "hex")).toBe(digest);
    expect(JSON.parse(signature.body)).toEqual({ decision: "approve", digest });
    const covered = new Map(
      signature.base.split("\n").map((line) => [/^"(.*?)"/.exec(line)?.[1], line.replace(/^".*?": /, "")]),
    );
    expect(covered.get("content-digest")).toBe(
      `sha-256=:${createHash("sha256").update(signature.body).digest("base64")}:`,
    );
    expect(covered.get("@target-uri")).toContain(`/v1/transactions/${waiting.id}/approvals`);
    const key = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: signature.public_key as string },
      format: "jwk",
    });
    const raw = Buffer.from(signature.signature.slice("sig1=:".length, -1), "base64");
    expect(verify(null, Buffer.from(signature.base), key, raw)).toBe(true);
    const isValid = await httpbis.verifyMessage(
      {
        keyLookup: async () => ({ id: keyId, verify: createVerifier(key, "ed25519") }),
      },
      {
        method: covered.get("@method") as string,
        url: covered.get("@target-uri") as string,
        headers: {
          authorization: covered.get("authorization") as string,
          "content-digest": covered.get("content-digest") as string,
          "signature-input": signature.signature_input,
          signature: signature.signature,
        },
      },
    );
    expect(isValid).toBe(true);
  });

  it("is not kept in a form that a reader of the database can use", async () => {
    await tenant.usePolicy(policy());
    const waiting = await ask();
    await approveSigned(waiting);
    const [row] = await service.database.query<{ base: Buffer }>(sql`
      SELECT base FROM approval_signatures WHERE transaction_id = ${readId("tx", waiting.id)}
    `);
    expect(row?.base.includes(anna.token)).toBe(false);
  });

  it("is required by a rule that says so", async () => {
    await tenant.usePolicy(policy({ signed: true }));
    const waiting = await ask();
    expect(waiting.approval).toMatchObject({ signed: true });
    const refused = await tenant.say(anna, waiting.id, waiting.approval?.digest ?? "");
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { error: { code: "POLICY_REJECTED", message: expect.stringContaining("signed (RFC 9421)") } },
    ]);
    expect((await approveSigned(waiting)).status).toBe(202);
    await tenant.settled(waiting.id, "completed");
  });

  it("need not be signed to reject", async () => {
    await tenant.usePolicy(policy({ signed: true }));
    const waiting = await ask();
    expect((await tenant.say(anna, waiting.id, waiting.approval?.digest ?? "", "reject")).status).toBe(202);
    await tenant.settled(waiting.id, "rejected");
  });
});

interface Shown {
  tenant_id: string;
  transaction_id: string;
  kind: string;
  asset: string;
  network: string;
  amount: string;
  decimals: number;
  source: { wallet_id: string };
  destination: { wallet_id: string };
  expires_at: string | null;
  created_by: string;
}

describe("the digest of an approval", () => {
  it("is that of the text which the guide shows", async () => {
    const [text = ""] = blocksOf("docs/guides/policy.md", "text").map((block) => block.trimEnd());
    const shown = JSON.parse(text) as Shown;
    const content = approvalContent({
      tenantId: shown.tenant_id,
      transactionId: shown.transaction_id,
      kind: shown.kind,
      asset: shown.asset,
      network: shown.network,
      amount: BigInt(shown.amount),
      decimals: shown.decimals,
      sourceWalletId: shown.source.wallet_id,
      destination: { walletId: shown.destination.wallet_id },
      expiresAt: shown.expires_at,
      createdBy: shown.created_by,
    });
    expect(content).toBe(text);
    expect(readPage("docs/guides/policy.md")).toContain(
      `has the digest \`${hash("sha256", content, "hex")}\``,
    );
  });

  it("covers the initiator, and the approver sees the wallets' names without wallets:read", async () => {
    const tenant = await createPolicyTenant(service);
    await tenant.usePolicy(policy());
    const anna = await tenant.addClient("anna");
    const { id } = (await (await tenant.create("5000")).json()) as Transaction;
    await tenant.settled(id, "awaiting_approval");
    expect((await service.call("GET", "/v1/wallets", anna.token)).status).toBe(403);
    const shown = (await (
      await service.call("GET", `/v1/transactions/${id}`, anna.token)
    ).json()) as Transaction;
    expect(shown.approval?.wallets.map(({ name }) => name).sort()).toEqual(["primary", "settlement"]);
    const content = {
      amount: "500000",
      asset: "USD",
      created_by: shown.created_by,
      decimals: 2,
      destination: shown.destination,
      expires_at: null,
      kind: shown.kind,
      network: shown.network,
      source: shown.source,
      tenant_id: tenant.publicId,
      transaction_id: id,
      type: "bursar.approval.v3",
    };
    expect(shown.approval?.digest).toBe(hash("sha256", JSON.stringify(content), "hex"));
  });
});
