import { randomBytes } from "node:crypto";
import { type ApprovalRecords, type ChangeRequest, readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { secretContexts } from "../../../../src/compose/secret-contexts.js";
import { createIntegrityKeys } from "../../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import { prepareIntegrity } from "../../../../src/store/access/integrity.js";
import { resealSecrets } from "../../../../src/store/access/reseal.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { newKeyPair, signedPost } from "../../../harness/http/signed-call.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

/** What `bursar keys reseal` does with a file that lists the new key before the old one. */
async function reseal({ database, masterKey }: TestService, newKey: Uint8Array) {
  const sealing = createSealing(createKeyring([newKey, masterKey]));
  const keys = createIntegrityKeys(sealing);
  const keyed = withKeys(database, keys);
  await prepareIntegrity(keyed, keys.retain, new Date());
  const again = (context: string, sealed: Uint8Array) => {
    if (sealing.isCurrent(sealed)) return undefined;
    const secret = sealing.open(context, sealed);
    if (secret === undefined) throw new Error(`${context} cannot be opened`);
    return sealing.seal(context, secret);
  };
  return await resealSecrets(keyed, again, secretContexts);
}

describe("after a reseal, a service that has only the new master key", () => {
  let old: TestService;
  let service: TestService;
  let tenant: GuardedTenant;
  let decider: Person;
  let paymentId: string;
  let decided: ChangeRequest;
  let open: ChangeRequest;
  let tampered: ChangeRequest;
  let optedOut: TestClient;
  let token: string;

  beforeAll(async () => {
    old = await startTestService();
    tenant = await createGuardedTenant(old);
    decider = await tenant.hire(["clients:manage", "audit:read"]);
    const officer = await tenant.hire();
    const pair = newKeyPair();
    const keyOf = async (who: Person) => ({
      keyId: await old.addKeyAsOperator(who, pair.publicKey),
      privateKey: pair.privateKey,
    });
    const [officerKey, deciderKey] = [await keyOf(officer), await keyOf(decider)];
    const payment = await tenant.pay(tenant.admin);
    paymentId = payment.id;
    const approval = { decision: "approve", digest: payment.approval?.digest };
    const approvals = `${old.url}/v1/transactions/${paymentId}/approvals`;
    expect((await signedPost(approvals, officer.token, officerKey, approval)).status).toBe(202);
    await tenant.completes(payment);

    const request = async () => {
      const change = { client_id: (await tenant.hire()).clientId, state: "disabled" };
      const asked = { kind: "client.change", change };
      const answer = await tenant.call(tenant.admin, "POST", "/v1/change-requests", asked);
      return answer.body as unknown as ChangeRequest;
    };
    [decided, open, tampered] = [await request(), await request(), await request()];
    const reject = `${old.url}/v1/change-requests/${decided.id}/reject`;
    expect((await signedPost(reject, decider.token, deciderKey, { digest: decided.digest })).status).toBe(
      200,
    );
    await old.database.run(
      `UPDATE change_requests SET comment = 'changed' WHERE id = '${readId("chr", tampered.id)}'`,
    );
    optedOut = await old.createTenant();
    await old.setSingleAdministrator(optedOut, true);
    await old.service.stop();

    const newKey = randomBytes(32);
    expect(await reseal(old, newKey)).toMatchObject({ approvals: 2 });
    // A second run finds nothing to do.
    expect(await reseal({ ...old, masterKey: newKey }, newKey)).toMatchObject({ approvals: 0 });
    await old.database.run(
      "UPDATE approval_signatures SET base_available_at = now(); UPDATE change_signatures SET base_available_at = now()",
    );
    service = await startTestService({}, { database: old.database, masterKey: newKey, publicUrl: undefined });
    token = await service.token(tenant.admin);
  });
  afterAll(async () => {
    await service.service.stop();
    await old.database.drop();
  });

  const get = async <T>(path: string, as = token) =>
    (await (await service.call("GET", path, as)).json()) as T;

  it("shows the signed content of approvals and of decisions on change requests", async () => {
    const approvals = await get<ApprovalRecords>(`/v1/transactions/${paymentId}/approvals`);
    expect(approvals.data[0]?.signature?.base).toContain("@signature-params");
    const decisions = await get<ApprovalRecords>(`/v1/change-requests/${decided.id}/decisions`);
    expect(decisions.data[0]?.signature?.base).toContain("@signature-params");
  });

  it("applies an open change request, and not one that was tampered with before", async () => {
    const approve = async ({ id, digest }: ChangeRequest) => {
      const path = `/v1/change-requests/${id}/approve`;
      const answer = await service.call("POST", path, await service.token(decider), { digest });
      return (await answer.json()) as ChangeRequest & { error?: { code: string } };
    };
    expect(await approve(open)).toMatchObject({ state: "applied" });
    expect(await approve(tampered)).toMatchObject({ error: { code: "CHANGE_REQUEST_TAMPERED" } });
  });

  it("still knows that the operator has opted a tenant out", async () => {
    const me = await get<object>("/v1/me", await service.token(optedOut));
    expect(me).toMatchObject({ tenant: { single_administrator: true } });
  });
});
