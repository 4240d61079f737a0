import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { retryFailures } from "../../../src/store/core/rows/failures.js";
import { Statement, sql } from "../../../src/store/core/sql.js";
import { transactionFailures } from "../../../src/store/transactions/settlement.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

/** The writer has the rights of the service's role, and no master key. */
describe("a payment that a writer to the database has changed", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let officer: Person;
  let second: Person;
  let payment: Transaction;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    tenant = await createGuardedTenant(service, 2);
    officer = await tenant.hire();
    second = await tenant.hire();
    payment = await tenant.pay(tenant.admin);
  });

  const idOf = ({ id }: Transaction) => readId("tx", id) ?? "";
  const own = () => `id = '${idOf(payment)}'`;
  const wake = () => `UPDATE open_transactions SET due_at = '-infinity' WHERE ${own()}`;
  const lastError = async (id: string) => {
    const [row] = await service.database.query<{ lastError: string | null }>(
      sql`SELECT last_error AS "lastError" FROM open_transactions WHERE id = ${id}`,
    );
    return row === undefined ? "not open" : row.lastError;
  };
  const isSetAside = async (id = idOf(payment)) => {
    await tenant.tallied(payment);
    expect(await lastError(id)).toContain("changed in the database");
  };
  const retry = (id = idOf(payment)) => retryFailures(service.database, transactionFailures, id, new Date());
  /** Runs the change as the role, and returns what undoes it. */
  const change = async (table: string, column: string, value: string) => {
    const where = table === "judgements" ? `transaction_${own()}` : own();
    const [before] = await service.database.query<{ value: string | null }>(
      new Statement(`SELECT ${column}::text AS value FROM ${table} WHERE ${where}`, []),
    );
    await role.run(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}; ${wake()}`);
    const was = before?.value == null ? "NULL" : `'${before.value}'`;
    return () => role.run(`UPDATE ${table} SET ${column} = ${was} WHERE ${where}`);
  };
  const balances = async () => {
    const rows = await service.database.query<{ sum: string }>(sql`
      SELECT string_agg(account_id || asset || available || ' ' || held, ',' ORDER BY account_id, asset) AS sum
      FROM ledger_accounts WHERE tenant_id = ${readId("tnt", tenant.owner.tenantId)}`);
    return rows[0]?.sum;
  };

  it("is not approved by the client that requested it, also if another one is named as the initiator", async () => {
    const initiator = await tenant.hire(["transactions:write", "transactions:approve", "transactions:read"]);
    payment = await tenant.pay(initiator);
    const restore = await change("transactions", "client_id", `'${tenant.owner.client.id}'`);
    const seen = await tenant.read(payment.id);
    expect(await tenant.approve(initiator, seen)).toMatchObject({
      status: 409,
      code: "TRANSACTION_TAMPERED",
    });
    await isSetAside();
    await restore();
    await retry();
    await eventually(
      () => lastError(idOf(payment)),
      (error) => error === null,
    );
    expect(await tenant.approve(initiator, payment)).toMatchObject({ status: 403 });
  });

  it.each([
    ["requires fewer approvals", "judgements", "requirement", `requirement || '{"approvals": 1}'`],
    ["was judged at another time", "judgements", "judged_at", "judged_at + interval '1 hour'"],
    ["requires approvals that nobody has authenticated", "judgements", "mac", "NULL"],
    ["need not be judged", "open_transactions", "needs_judgement", "false"],
  ])("is not made if it %s", async (_, table, column, value) => {
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    const restore = await change(table, column, value);
    await isSetAside();
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    await restore();
    await retry();
    await eventually(
      () => lastError(idOf(payment)),
      (error) => error === null,
    );
    expect(await tenant.approve(second, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it.each([false, true])(
    "is not made if what it requires was deleted and it is said to be accepted, with needs_judgement = %s",
    async (needsJudgement) => {
      const before = await balances();
      // The policy of now would allow it.
      await service.database.query(sql`
        INSERT INTO policies (tenant_id, version, document, client_id, created_at)
        SELECT tenant_id, 2, '{"rules": [], "default": {"action": "allow"}}', client_id, now() FROM policies
        WHERE tenant_id = ${readId("tnt", tenant.owner.tenantId)}`);
      await role.run(`
        DELETE FROM judgements WHERE transaction_${own()};
        UPDATE open_transactions SET state = 'accepted', needs_judgement = ${needsJudgement}, due_at = '-infinity' WHERE ${own()}`);
      await isSetAside();
      expect(await balances()).toBe(before);
      await role.run(`DELETE FROM open_transactions WHERE ${own()}`);
    },
  );

  it("is neither expired nor cancelled, because what it holds is not known", async () => {
    const before = await balances();
    await change("transactions", "amount", "1");
    await role.run(`UPDATE transactions SET expires_at = now() WHERE ${own()}; ${wake()}`);
    await isSetAside();
    expect(await tenant.call(tenant.admin, "POST", `/v1/transactions/${payment.id}/cancel`)).toMatchObject({
      status: 409,
      code: "TRANSACTION_TAMPERED",
    });
    expect(await balances()).toBe(before);
    // Somebody who puts the row right finds in the log why it is not paid.
    const cancelled = await eventually(
      async () => {
        const path = `/v1/audit?action=transaction.cancel&object=${payment.id}`;
        const { body } = await tenant.call(tenant.admin, "GET", path);
        return (body as unknown as { data: { client_id: string; outcome: string }[] }).data;
      },
      ({ length }) => length > 0,
    );
    expect(cancelled).toMatchObject([{ client_id: tenant.admin.clientId, outcome: "succeeded" }]);
    await role.run(
      `UPDATE transactions SET amount = ${Number(payment.amount) * 100}, expires_at = NULL WHERE ${own()}`,
    );
    // That it was to be cancelled is recorded, so it is not paid; only the owner of the tables can take that back.
    expect((await tenant.call(tenant.admin, "POST", `/v1/transactions/${payment.id}/cancel`)).status).toBe(
      409,
    );
    await service.database.run(`DELETE FROM stop_records WHERE subject_${own()}`);
    expect((await tenant.call(tenant.admin, "POST", `/v1/transactions/${payment.id}/cancel`)).status).toBe(
      202,
    );
  });

  it.each([
    ["that carries a time to come", () => `ff${crypto.randomUUID().slice(2)}`],
    ["that carries a time long ago", () => `00${crypto.randomUUID().slice(2)}`],
  ])(
    "is not made if it was only written to the database with an id %s, and does not hold up the others of its tenant",
    async (_, makeId) => {
      const thief = makeId();
      await role.run(`
      INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind,
        source_account_id, destination_account_id, created_at, key_id, mac)
      SELECT tenant_id, '${thief}', '${thief}', request_hash, client_id, reference, asset, amount, kind, source_account_id,
        destination_account_id, now(), key_id, mac FROM transactions WHERE ${own()};
      INSERT INTO open_transactions (tenant_id, id, state, version)
      SELECT tenant_id, '${thief}', 'accepted', 1 FROM transactions WHERE ${own()}`);
      for (const who of [officer, second])
        expect(await tenant.approve(who, payment)).toMatchObject({ status: 202 });
      await tenant.completes(payment);
      await eventually(
        () => lastError(thief),
        (error) => error !== null,
      );
      await isSetAside(thief);
      await role.run(`DELETE FROM open_transactions WHERE id = '${thief}'`);
    },
  );

  it("is in the audit log and counted", async () => {
    const restore = await change("transactions", "amount", "amount * 2");
    await isSetAside();
    const auditor = await tenant.hire(["audit:read"]);
    const entries = await eventually(
      async () => {
        const { body } = await tenant.call(auditor, "GET", "/v1/audit");
        return (body as unknown as { data: { action: string; object: string | null; code: string | null }[] })
          .data;
      },
      (data) => data.some(({ action }) => action === "transaction.tampered"),
    );
    expect(entries.find(({ action }) => action === "transaction.tampered")).toMatchObject({
      object: payment.id,
      code: "TRANSACTION_TAMPERED",
    });
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^bursar_tampered_transactions_total [1-9]/m);
    await restore();
    await retry();
  });
});
