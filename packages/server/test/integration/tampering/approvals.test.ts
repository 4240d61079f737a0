import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withKeys } from "../../../src/store/core/database.js";
import { retryFailures } from "../../../src/store/core/rows/failures.js";
import { Statement, sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { findForgedApprovals } from "../../../src/store/transactions/forged-approvals.js";
import { transactionFailures } from "../../../src/store/transactions/settlement.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { sealOpenTransactions } from "../../harness/database/seal-rows.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("an approval that somebody writes to the database", () => {
  let tenant: GuardedTenant;
  let officer: Person;
  let payment: Transaction;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service, 1);
    officer = await tenant.hire();
    payment = await tenant.pay(tenant.admin);
  });

  /** Inserts what another statement selects, as the next version of the payment. */
  const insert = (columns: string, selected: string) =>
    service.database.run(`
      UPDATE open_transactions SET version = version + 1, due_at = '-infinity' WHERE id = '${idOf(payment)}';
      INSERT INTO approvals (tenant_id, transaction_id, version, decision, comment, decided_at, ${columns})
      SELECT o.tenant_id, o.id, o.version, 'approve', NULL, now(), ${selected} FROM open_transactions o
      WHERE o.id = '${idOf(payment)}'`);
  const idOf = ({ id }: Transaction) => readId("tx", id) ?? "";
  const officerId = () => `'${readId("cli", officer.clientId)}'`;
  const waitsStill = async () => {
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
  };

  it("does not count, and does not keep its client from approving", async () => {
    await insert("client_id", officerId());
    await waitsStill();
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("does not count again after a later policy if the version that has judged the payment is changed", async () => {
    const { token } = tenant.admin;
    const next = {
      rules: [],
      default: { action: "require_approval", approvals: 1, from: { clients: [tenant.admin.clientId] } },
    };
    const tag = (await service.call("GET", "/v1/policy", token)).headers.get("etag") ?? "";
    expect((await service.call("PUT", "/v1/policy", token, next, { "if-match": tag })).status).toBe(200);
    await service.database.run(
      `UPDATE judgements SET policy_version = policy_version + 1 WHERE transaction_id = '${idOf(payment)}'`,
    );
    await tenant.approve(officer, payment);
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state !== "completed" && state !== "processing",
    );
    const answer = await tenant.call(tenant.admin, "GET", `/v1/transactions/${payment.id}/approvals/tally`);
    expect(answer).toMatchObject({ code: "TRANSACTION_TAMPERED" });
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
  });

  it("is shown as not recorded by the tally", async () => {
    await insert("client_id, digest", `${officerId()}, decode('${payment.approval?.digest}', 'hex')`);
    const { body } = await tenant.call(tenant.admin, "GET", `/v1/transactions/${payment.id}/approvals/tally`);
    expect(body).toMatchObject({
      ...{ state: "pending", counted: 0 },
      decisions: [{ client_id: officer.clientId, counts: false, reason: "not_recorded" }],
    });
  });

  it("is not shown as a decision of its client, to approvers or to auditors, and genuine ones are", async () => {
    const auditor = await tenant.hire(["audit:read"]);
    const listed = async () =>
      (await tenant.call(auditor, "GET", `/v1/transactions/${payment.id}/approvals`)).body;
    await insert("client_id, digest", `${officerId()}, decode('${payment.approval?.digest}', 'hex')`);
    await tenant.tallied(payment);
    const shown = await tenant.read(payment.id);
    expect(shown).toMatchObject({
      state: "awaiting_approval",
      approval: { state: "pending", approved: 0, decisions: [] },
    });
    expect(JSON.stringify(shown)).not.toContain(officer.clientId);
    expect(await listed()).toMatchObject({ data: [] });

    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    const { clientId: client_id } = officer;
    expect(await tenant.completes(payment)).toMatchObject({
      approval: { state: "approved", approved: 1, decisions: [{ client_id, decision: "approve" }] },
    });
    expect(await listed()).toMatchObject({ data: [{ client_id, decision: "approve" }] });
  });

  it("stops the payment if it is a rejection, without a name, and the audit of the ledger reports it", async () => {
    const genuine = await tenant.pay(tenant.admin);
    expect(await tenant.approve(officer, genuine)).toMatchObject({ status: 202 });
    await tenant.completes(genuine);
    await insert("client_id", officerId());
    await service.database.run(`
      UPDATE approvals SET decision = 'reject' WHERE transaction_id = '${idOf(payment)}';
      UPDATE open_transactions SET due_at = '-infinity' WHERE id = '${idOf(payment)}'`);
    const rejected = await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "rejected",
    );
    expect(JSON.stringify(rejected)).not.toContain(officer.clientId);
    const keyed = withKeys(service.database, service.keys);
    const found = (await findForgedApprovals(keyed, 10_000)).map(({ transaction_id }) => transaction_id);
    expect(found).toContain(idOf(payment));
    expect(found).not.toContain(idOf(genuine));
    const rule = (await auditLedger(keyed)).find(({ what }) => what.startsWith("every decision"));
    expect(rule?.violations.length).toBeGreaterThan(0);
  });

  it("does not count with a signature that is only said to be one", async () => {
    await service.database.query(sql`
      UPDATE judgements SET requirement = requirement || '{"signed": true}' WHERE transaction_id = ${idOf(payment)}
    `);
    await sealOpenTransactions(service.database, service.keys, sql`o.id = ${idOf(payment)}`);
    await insert("client_id", officerId());
    await service.database.run(`
      INSERT INTO approval_signatures (tenant_id, transaction_id, version, key_id, algorithm, public_key, params, signature,
        base, body, base_available_at)
      SELECT tenant_id, transaction_id, version, gen_random_uuid(), 'ed25519', '\\x00', '', '\\x00', '\\x00', '\\x00', now()
      FROM approvals WHERE transaction_id = '${idOf(payment)}'`);
    await waitsStill();
  });

  it("does not count if it is copied from another transaction, with its MAC", async () => {
    const other = await tenant.pay(tenant.admin);
    expect(await tenant.approve(officer, other)).toMatchObject({ status: 202 });
    await tenant.completes(other);
    const copied = (column: string) =>
      `(SELECT ${column} FROM approvals WHERE transaction_id = '${idOf(other)}')`;
    const columns = ["client_id", "digest", "key_id", "mac"];
    await insert(columns.join(", "), columns.map(copied).join(", "));
    await waitsStill();
  });

  it("does not keep an approver from rejecting, also with the next version", async () => {
    await service.database.run(`
      INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, decided_at)
      SELECT tenant_id, id, version + 1, ${officerId()}, 'approve', now() FROM open_transactions WHERE id = '${idOf(payment)}';
      INSERT INTO approval_signatures (tenant_id, transaction_id, version, key_id, algorithm, public_key, params, signature,
        base, body, base_available_at)
      SELECT tenant_id, transaction_id, version, gen_random_uuid(), 'ed25519', '\\x00', '', '\\x00', '\\x00', '\\x00', now()
      FROM approvals WHERE transaction_id = '${idOf(payment)}'`);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });
});

describe("a payment that the engine is kept from while its approvers decide", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let officers: Person[];
  let payment: Transaction;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    tenant = await createGuardedTenant(service, 2);
    officers = [await tenant.hire(), await tenant.hire()];
    payment = await tenant.pay(tenant.admin);
    await role.run(`UPDATE open_transactions SET retry_at = '2099-01-01' WHERE ${own()}`);
    for (const officer of officers)
      expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
  });

  const own = () => `id = '${readId("tx", payment.id)}'`;
  /** Whether the engine has looked at it and found that it was changed. */
  const isSetAside = async () => {
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    const rows = await service.database.query<{ lastError: string | null }>(
      new Statement(`SELECT last_error AS "lastError" FROM open_transactions WHERE ${own()}`, []),
    );
    expect(rows).toEqual([{ lastError: expect.stringContaining("changed in the database") }]);
  };
  /** What the operator does once the row is as it was. */
  const retry = async () => {
    await retryFailures(service.database, transactionFailures, readId("tx", payment.id) ?? "", new Date());
    await tenant.completes(payment);
  };
  const release = () =>
    role.run(`UPDATE open_transactions SET retry_at = NULL, due_at = '-infinity' WHERE ${own()}`);

  it("is made if nothing was changed", async () => {
    await release();
    await tenant.completes(payment);
  });

  it.each([
    ["to another wallet", "destination_account_id", "source_account_id"],
    ["to an address", "destination_address", "'thief'"],
    ["of another amount", "amount", "amount * 10"],
    [
      "for another client",
      "client_id",
      "(SELECT c.id FROM clients c WHERE c.tenant_id = transactions.tenant_id AND c.id <> client_id LIMIT 1)",
    ],
    ["with another end", "expires_at", "now() + interval '1 day'"],
    ["without a MAC", "mac", "NULL"],
    ["with the MAC of another key", "key_id", "'0011223344556677'"],
  ])(
    "is not made %s, the record shows what was approved, and it is made once the row is restored",
    async (_, column, value) => {
      const digest = payment.approval?.digest;
      const [before] = await service.database.query<{ value: string | null }>(
        new Statement(`SELECT ${column}::text AS value FROM transactions WHERE ${own()}`, []),
      );
      await role.run(`UPDATE transactions SET ${column} = ${value} WHERE ${own()}`);
      await release();
      await isSetAside();
      const auditor = await tenant.hire(["audit:read"]);
      const record = await tenant.call(auditor, "GET", `/v1/transactions/${payment.id}/approvals`);
      expect(record.body).toMatchObject({ data: [{ digest }, { digest }] });
      const was = before?.value == null ? "NULL" : `'${before.value}'`;
      await role.run(`UPDATE transactions SET ${column} = ${was} WHERE ${own()}`);
      await retry();
    },
  );

  it("is not made after the digests of its approvals were changed with it", async () => {
    await role.run(`UPDATE transactions SET amount = amount * 10 WHERE ${own()}`);
    const changed = await tenant.read(payment.id);
    await role.run(
      `UPDATE approvals SET digest = decode('${changed.approval?.digest}', 'hex') WHERE transaction_${own()}`,
    );
    await release();
    await isSetAside();
    await role.run(`
      UPDATE transactions SET amount = amount / 10 WHERE ${own()};
      UPDATE approvals SET digest = decode('${payment.approval?.digest}', 'hex') WHERE transaction_${own()}`);
    await retry();
  });

  it("stays rejected if the rejection is deleted before the engine has seen it", async () => {
    const rejection = { decision: "reject", digest: payment.approval?.digest };
    const path = `/v1/transactions/${payment.id}/approvals`;
    expect(await tenant.call(officers[1] as Person, "POST", path, rejection)).toMatchObject({ status: 202 });
    await role.run(`DELETE FROM approvals WHERE transaction_${own()} AND decision = 'reject'`);
    await release();
    const ended = await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state !== "awaiting_approval",
    );
    expect(ended).toMatchObject({
      state: "rejected",
      failure: { code: "APPROVAL_REJECTED" },
      approval: { state: "rejected" },
    });
  });
});
