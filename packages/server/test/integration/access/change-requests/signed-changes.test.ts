import { createHash, createPublicKey, hash, verify } from "node:crypto";
import { type ApprovalRecords, type ChangeRequest, readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { shortLivedToken } from "../../../harness/access/short-lived-token.js";
import { eventually } from "../../../harness/eventually.js";
import { newKeyPair, type SigningKey, signedPost } from "../../../harness/http/signed-call.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a signed decision on a change request", () => {
  let tenant: GuardedTenant;
  let decider: Person;
  let made: ChangeRequest;
  let key: SigningKey;
  const pair = newKeyPair();

  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    decider = await tenant.hire(["clients:manage", "audit:read"]);
    const keyId = await service.addKeyAsOperator(decider, pair.publicKey);
    key = { keyId, privateKey: pair.privateKey };
    const change = { client_id: officer.clientId, state: "disabled" };
    const asked = { kind: "client.change", change };
    const answer = await tenant.call(tenant.admin, "POST", "/v1/change-requests", asked);
    made = answer.body as unknown as ChangeRequest;
  });

  const decideSigned = (decision: "approve" | "reject", token = decider.token) =>
    signedPost(`${service.url}/v1/change-requests/${made.id}/${decision}`, token, key, {
      digest: made.digest,
    });
  const evidence = async () =>
    (await tenant.call(tenant.admin, "GET", `/v1/change-requests/${made.id}/decisions`))
      .body as unknown as ApprovalRecords;

  it.each(["approve", "reject"] as const)("to %s can be verified later", async (decision) => {
    const token = await shortLivedToken(service, decider.token);
    expect((await decideSigned(decision, token)).status).toBe(200);
    const { digest, content, data } = await eventually(
      evidence,
      (shown) => shown.data[0]?.signature?.base !== null,
    );
    expect((await service.call("GET", "/v1/me", token)).status).toBe(401);
    expect(hash("sha256", content, "hex")).toBe(digest);
    expect(digest).toBe(made.digest);
    expect(data).toMatchObject([{ client_id: decider.clientId, decision }]);
    const [signature] = data.map((one) => one.signature);
    expect(signature?.key_id).toBe(key.keyId);
    if (signature?.base == null) throw new Error("there is no base");
    expect(JSON.parse(signature.body)).toEqual({ digest });
    const bodyDigest = createHash("sha256").update(signature.body).digest("base64");
    expect(signature.base).toContain(`"content-digest": sha-256=:${bodyDigest}:`);
    expect(signature.base).toContain(`/v1/change-requests/${made.id}/${decision}`);
    const publicKey = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: signature.public_key as string },
      format: "jwk",
    });
    const raw = Buffer.from(signature.signature.slice("sig1=:".length, -1), "base64");
    expect(verify(null, Buffer.from(signature.base), publicKey, raw)).toBe(true);
  });

  it("is not kept in a form that a reader of the database can use", async () => {
    await decideSigned("approve");
    const [row] = await service.database.query<{ base: Buffer }>(sql`
      SELECT base FROM change_signatures WHERE change_request_id = ${readId("chr", made.id)}
    `);
    expect(row?.base.length).toBeGreaterThan(decider.token.length);
    expect(row?.base.includes(decider.token)).toBe(false);
  });

  it("is listed without a signature if the request had none", async () => {
    const path = `/v1/change-requests/${made.id}/approve`;
    expect((await tenant.call(decider, "POST", path, { digest: made.digest })).status).toBe(200);
    expect((await evidence()).data).toMatchObject([{ client_id: decider.clientId, signature: null }]);
  });
});
