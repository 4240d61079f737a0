import { randomBytes } from "node:crypto";
import { type ApprovalRecords, type ChangeRequest, readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IntegrityKeys } from "../../../../src/app/access/integrity-keys.js";
import { verifyAudit } from "../../../../src/app/audit/audit-chain.js";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { isPositionAuthentic } from "../../../../src/app/audit/chain-hash.js";
import type { OperatorRequest } from "../../../../src/app/requests/operator-request.js";
import { createIntegrityKeys } from "../../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import { prepareIntegrity } from "../../../../src/store/access/integrity.js";
import { createTenantSuspensionStore } from "../../../../src/store/access/tenant-suspension.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { recordOperatorRequest } from "../../../../src/store/core/operator-requests.js";
import { sql } from "../../../../src/store/core/sql.js";
import { macOfApproval, type SealedApproval } from "../../../../src/store/transactions/approval-integrity.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { plantKey } from "../../../harness/access/plant-key.js";
import { reseal } from "../../../harness/access/reseal.js";
import { shortLivedToken } from "../../../harness/access/short-lived-token.js";
import { eventually } from "../../../harness/eventually.js";
import { newKeyPair, signedPost } from "../../../harness/http/signed-call.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

const command: OperatorRequest = { action: "wallet.fund", key: "before", hash: "11".repeat(32) };
const funded = { tenantId: crypto.randomUUID(), objectId: crypto.randomUUID(), sealedSecret: null };

describe("after a reseal, a service that has only the new master key", () => {
  let old: TestService;
  let service: TestService;
  let tenant: GuardedTenant;
  let cautious: GuardedTenant;
  let approvers: Person[];
  let decider: Person;
  let paymentId: string;
  let decided: ChangeRequest;
  let open: ChangeRequest;
  let tampered: ChangeRequest;
  let optedOut: TestClient;
  let token: string;
  /** The master key after the first, and the one after that. */
  let betweenKey: Buffer;
  let newKey: Buffer;
  const inventedKey = randomBytes(32);
  /** Approved by one of two before the master key was replaced. */
  let waiting: Transaction;

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
    const briefly = (who: Person) => shortLivedToken(old, who.token);
    expect((await signedPost(approvals, await briefly(officer), officerKey, approval)).status).toBe(202);
    await tenant.completes(payment);

    const request = async () => {
      const change = { client_id: (await tenant.hire()).clientId, state: "disabled" };
      const asked = { kind: "client.change", change };
      const answer = await tenant.call(tenant.admin, "POST", "/v1/change-requests", asked);
      return answer.body as unknown as ChangeRequest;
    };
    [decided, open, tampered] = [await request(), await request(), await request()];
    const reject = `${old.url}/v1/change-requests/${decided.id}/reject`;
    const rejection = await signedPost(reject, await briefly(decider), deciderKey, {
      digest: decided.digest,
    });
    expect(rejection.status).toBe(200);
    await old.database.run(
      `UPDATE change_requests SET comment = 'changed' WHERE id = '${readId("chr", tampered.id)}'`,
    );
    optedOut = await old.createTenant();
    await old.setSingleAdministrator(optedOut, true);
    cautious = await createGuardedTenant(old, 2);
    approvers = [await cautious.hire(), await cautious.hire()];
    waiting = await cautious.pay(cautious.admin);
    expect(await cautious.approve(approvers[0] as Person, waiting)).toMatchObject({ status: 202 });
    await cautious.tallied(waiting);
    const { source } = waiting;
    const walletId = source !== null && "wallet_id" in source ? source.wallet_id : "";
    for (const how of ["freeze", "unfreeze"]) {
      const { status } = await cautious.call(cautious.admin, "POST", `/v1/wallets/${walletId}/${how}`, {});
      expect(status).toBe(200);
    }
    await withKeys(old.database, old.keys).transaction((tx) => recordOperatorRequest(tx, command, funded));
    // A row that is no secret at all keeps nothing else from the new key.
    await old.database.run(`
      INSERT INTO approval_signatures SELECT tenant_id, transaction_id, 99, key_id, algorithm, public_key, params, signature,
        '\\x00', body, base_available_at FROM approval_signatures LIMIT 1`);
    await old.service.stop();

    [betweenKey, newKey] = [randomBytes(32), randomBytes(32)];
    // The transaction, what it requires, its approval, the opening deposits of the tenants and the command.
    const unreadable = [expect.stringMatching(/^approval /)];
    expect(await reseal(old, betweenKey)).toMatchObject({
      approvals: 2,
      macs: expect.any(Number),
      unreadable,
    });
    // A second run finds nothing to do, whether the old key is still listed or not.
    const nothing = { approvals: 0, macs: 0, chains: 0 };
    for (const listed of [old.masterKey, betweenKey])
      expect(await reseal({ ...old, masterKey: listed }, betweenKey)).toMatchObject(nothing);
    const invented = await plantKey(old.database, betweenKey, inventedKey, old.masterKey);
    expect(await reseal({ ...old, masterKey: betweenKey }, newKey)).toMatchObject({
      approvals: 2,
      unusedKeys: [invented],
    });
    service = await startTestService({}, { database: old.database, masterKey: newKey, publicUrl: undefined });
    token = await service.token(tenant.admin);
  });
  afterAll(async () => {
    await service.service.stop();
    await old.database.drop();
  });

  const get = async <T>(path: string, as = token) =>
    (await (await service.call("GET", path, as)).json()) as T;

  it("shows decisions on what had ended, with their signed content", async () => {
    for (const path of [
      `/v1/transactions/${paymentId}/approvals`,
      `/v1/change-requests/${decided.id}/decisions`,
    ]) {
      const isShown = ({ data }: ApprovalRecords) => data[0]?.signature?.base !== null;
      const { data } = await eventually(() => get<ApprovalRecords>(path), isShown);
      expect(data[0]?.signature?.base).toContain("@signature-params");
    }
    const { approval } = await get<Transaction>(`/v1/transactions/${paymentId}`);
    expect(approval).toMatchObject({ approved: 1, decisions: [{ decision: "approve", signed: true }] });
    const { decisions } = await get<ChangeRequest>(`/v1/change-requests/${decided.id}`);
    expect(decisions).toMatchObject([{ client_id: decider.clientId, decision: "reject" }]);
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

  it("counts approvals of before, and makes the payment with the next one, from a wallet that was frozen once", async () => {
    const answer = await service.call(
      "POST",
      `/v1/transactions/${waiting.id}/approvals`,
      await service.token(approvers[1] as Person),
      { decision: "approve", digest: waiting.approval?.digest },
    );
    expect(answer.status).toBe(202);
    const read = async () =>
      await get<Transaction>(`/v1/transactions/${waiting.id}`, await service.token(cautious.admin));
    expect(await eventually(read, ({ state }) => state !== "awaiting_approval")).toMatchObject({
      state: "completed",
    });
  });

  it("still knows what a command of the operator has done", async () => {
    const keys = createIntegrityKeys(createSealing(createKeyring([newKey])));
    const recorded = await withKeys(service.database, keys).transaction((tx) =>
      recordOperatorRequest(tx, command, { ...funded, objectId: crypto.randomUUID() }),
    );
    expect(recorded?.earlier).toMatchObject({ objectId: funded.objectId });
  });

  it("counts no approval, and repeats no command, that a thief of the old master key has forged", async () => {
    const retained = createIntegrityKeys(createSealing(createKeyring([newKey])));
    await prepareIntegrity(withKeys(service.database, retained), retained.retain, new Date());
    const stolen = createIntegrityKeys(createSealing(createKeyring([old.masterKey])));
    for (const label of [
      "approval",
      "operator request",
      "transaction",
      "sweep",
      "wallet address",
      "stop record",
    ] as const)
      expect(retained.derive(label, stolen.currentId), label).toBeUndefined();
    const admin = await service.token(cautious.admin);
    const made = await service.call(
      "POST",
      "/v1/transactions",
      admin,
      { reference: "r", asset: "USD", amount: "5000" },
      { "idempotency-key": crypto.randomUUID() },
    );
    const { id } = (await made.json()) as Transaction;
    const read = () => get<Transaction>(`/v1/transactions/${id}`, admin);
    const payment = await eventually(read, ({ state }) => state === "awaiting_approval");
    const transactionId = readId("tx", id) ?? "";
    for (const [index, { clientId }] of approvers.entries()) {
      const approval: SealedApproval = {
        ...{ tenantId: readId("tnt", cautious.owner.tenantId) ?? "", transactionId, version: 3 + index },
        ...{ clientId: readId("cli", clientId) ?? "", decision: "approve", comment: null, isSigned: false },
        publicKey: null,
        ...{ digest: payment.approval?.digest ?? null, decidedAt: new Date() },
      };
      const { keyId, mac } = macOfApproval(stolen, approval);
      await service.database.query(sql`
        INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, digest, decided_at, key_id, mac)
        VALUES (${approval.tenantId}, ${transactionId}, ${approval.version}, ${approval.clientId}, 'approve',
          decode(${approval.digest}, 'hex'), ${approval.decidedAt}, ${keyId}, ${mac})`);
    }
    await service.database.query(
      sql`UPDATE open_transactions SET version = 4, due_at = '-infinity' WHERE id = ${transactionId}`,
    );
    const due = () =>
      service.database.query<{ isDue: boolean }>(
        sql`SELECT due_at < now() AS "isDue" FROM open_transactions WHERE id = ${transactionId}`,
      );
    await eventually(due, ([row]) => row?.isDue !== true);
    expect(await read()).toMatchObject({ state: "awaiting_approval", approval: { approved: 0 } });
  });

  it("still knows that the operator has opted a tenant out", async () => {
    const me = await get<object>("/v1/me", await service.token(optedOut));
    expect(me).toMatchObject({ tenant: { single_administrator: true } });
  });

  const faults = async () => {
    const store = createAuditStore(service.database);
    const verdicts = await verifyAudit({ store, keys: service.keys, tenantIds: [] });
    return verdicts.flatMap(({ tenantId, fault }) => (fault === undefined ? [] : { tenantId, fault }));
  };
  const append = (keys: IntegrityKeys, tenantId: string, action: string, object: string) =>
    createAuditStore(withKeys(service.database, keys)).append([
      describeAct({ by: "operator", tenantId }, action, object, new Date()),
    ]);
  /** Appends an entry and moves the head, both authenticated with a stolen key. */
  const forge = (masterKey: Uint8Array, tenantId: string, action: string, object: string) => {
    const stolen = createIntegrityKeys(createSealing(createKeyring([masterKey])));
    // Other keys are used only to verify the head that is continued, which a thief need not do.
    const derive: IntegrityKeys["derive"] = (label, keyId) =>
      stolen.derive(label, keyId) ?? service.keys.derive(label, keyId);
    return append({ currentId: stolen.currentId, derive }, tenantId, action, object);
  };
  const readLog = async () =>
    (await get<{ data: { action: string; object: string | null }[] }>("/v1/audit?limit=200")).data;

  it("finds the audit log of before intact, and shows it", async () => {
    expect(await faults()).toEqual([]);
    const actions = (await readLog()).map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(["tenant.create", "audit.key"]));
  });

  it("does not show, continue or sign an audit entry that a thief of a replaced master key has forged", async () => {
    const tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    for (const [index, masterKey] of [old.masterKey, betweenKey, inventedKey].entries()) {
      await forge(masterKey, tenantId, "wallet.freeze", `forged${index}`);
      expect(await faults()).toEqual([{ tenantId, fault: expect.any(String) }]);
      const heads = await createAuditStore(service.database).listHeads();
      const signed = heads.filter((head) => isPositionAuthentic(service.keys, "head", head));
      expect(signed.some((head) => head.tenantId === tenantId)).toBe(false);
      await append(service.keys, tenantId, "test.act", `genuine${index}`);
      const log = await readLog();
      expect(log.map(({ object }) => object)).toContain(`genuine${index}`);
      expect(log.map(({ object }) => object)).not.toContain(`forged${index}`);
      expect(log.map(({ action }) => action)).toContain("audit.head_changed");
      expect(await faults()).toEqual([{ tenantId, fault: expect.any(String) }]);
    }
  });

  it("keeps a tenant suspended that a thief of a replaced master key resumes", async () => {
    const tenantId = readId("tnt", optedOut.tenantId) ?? "";
    const { isSuspended } = createTenantSuspensionStore(withKeys(service.database, service.keys));
    for (const masterKey of [old.masterKey, betweenKey, inventedKey]) {
      await service.setTenantSuspended(optedOut, true);
      await forge(masterKey, tenantId, "tenant.resume", optedOut.tenantId);
      await service.database.run(`UPDATE tenants SET suspended_at = NULL WHERE id = '${tenantId}'`);
      expect(await isSuspended(tenantId)).toBe(true);
      await service.setTenantSuspended(optedOut, false);
      expect(await isSuspended(tenantId)).toBe(false);
    }
  });
});
