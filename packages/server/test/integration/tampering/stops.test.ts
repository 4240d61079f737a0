import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { retryFailures } from "../../../src/store/core/rows/failures.js";
import { sql } from "../../../src/store/core/sql.js";
import { transactionFailures } from "../../../src/store/transactions/settlement.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

/** The writer has the rights of the service's role, and no master key. */
describe("a stop that a writer to the database undoes", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let tenantId: string;
  let officer: Person;
  let requester: Person;
  let wallet: string;
  let payment: Transaction;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    officer = await tenant.hire();
    requester = await tenant.hire(["transactions:write", "transactions:read"]);
    payment = await tenant.pay(requester);
    const { source } = payment;
    wallet = source !== null && "wallet_id" in source ? source.wallet_id : "";
  });

  const own = () => `id = '${readId("tx", payment.id)}'`;
  const walletId = () => readId("wlt", wallet) ?? "";
  const clientId = () => readId("cli", requester.clientId) ?? "";
  const freeze = async (how: "freeze" | "unfreeze") =>
    expect(await tenant.call(tenant.admin, "POST", `/v1/wallets/${wallet}/${how}`, {})).toMatchObject({
      status: 200,
      body: { frozen: how === "freeze" },
    });
  const approve = async () => expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
  /** When the engine has looked at it. */
  const result = async () => {
    await tenant.tallied(payment);
    const { state, failure } = await tenant.read(payment.id);
    return [state, failure?.code ?? null];
  };
  /** What the row says, without its error: until it is looked at again, it waits. */
  const findRow = async () => {
    const [row] = await service.database.query<{ lastError: string | null; isHeld: boolean }>(sql`
      SELECT last_error AS "lastError", retry_at IS NOT NULL AS "isHeld" FROM open_transactions
      WHERE id = ${readId("tx", payment.id)}`);
    return row;
  };
  const isHeld = async () => {
    const row = await eventually(findRow, (found) => found?.isHeld !== false);
    expect(row).toEqual({ lastError: null, isHeld: true });
  };
  const isSetAside = async () => {
    const row = await eventually(findRow, (found) => found?.isHeld !== false);
    expect(row).toEqual({ lastError: expect.stringContaining("stop_records"), isHeld: true });
  };
  const insertRecord = (subject: string, mac: string) =>
    role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, key_id, mac)
      SELECT tenant_id, subject_id, max(number) + 1, false, now(), max(key_id), ${mac} FROM stop_records
      WHERE subject_id = '${subject}' GROUP BY tenant_id, subject_id`);

  it("leaves a wallet frozen, whatever its row says, until a client unfreezes it", async () => {
    await freeze("freeze");
    await role.run(`UPDATE wallets SET frozen = false WHERE id = '${walletId()}'`);
    const shown = await tenant.call(tenant.admin, "GET", `/v1/wallets/${wallet}`);
    expect(shown.body).toMatchObject({ frozen: true });
    await approve();
    expect(await result()).toEqual(["failed", "WALLET_FROZEN"]);
    await freeze("unfreeze");
    payment = await tenant.pay(requester);
    await approve();
    await tenant.completes(payment);
  });

  it.each([
    ["no MAC", "NULL"],
    ["the MAC of an earlier end", "(array_agg(mac ORDER BY number DESC) FILTER (WHERE NOT stopped))[1]"],
  ])("does not unfreeze a wallet by a record with %s, and names the table", async (_, mac) => {
    await freeze("freeze");
    await freeze("unfreeze");
    await freeze("freeze");
    await role.run(`UPDATE wallets SET frozen = false WHERE id = '${walletId()}'`);
    await insertRecord(walletId(), mac);
    await approve();
    await isSetAside();
    // Nobody but the owner of the table can remove it.
    await expect(role.run(`DELETE FROM stop_records WHERE subject_id = '${walletId()}'`)).rejects.toThrow();
    await service.database.run(`DELETE FROM stop_records WHERE subject_id = '${walletId()}' AND number = 4`);
    await retryFailures(service.database, transactionFailures, readId("tx", payment.id) ?? "", new Date());
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "failed",
    );
  });

  it("does not release what a disabled client requested, also if its row is put back with its MAC", async () => {
    const kept = `kept_${clientId().replaceAll("-", "")}`;
    await service.database.run(
      `CREATE TABLE ${kept} AS SELECT * FROM clients WHERE id = '${clientId()}'; GRANT SELECT ON ${kept} TO PUBLIC`,
    );
    await service.changeAsOperator(requester, { state: "disabled" });
    const columns =
      "state, updated_at, disabled_at, authority_changed_by, authority_changed_at, controllers, reset_at, credentials, key_id, mac";
    await role.run(
      `UPDATE clients SET (${columns}) = (SELECT ${columns} FROM ${kept}) WHERE id = '${clientId()}'`,
    );
    await service.database.run(`DROP TABLE ${kept}`);
    await approve();
    await isHeld();
    // The operator enables it: first the row says again what the operator has said.
    await service.changeAsOperator(requester, { state: "disabled" });
    await service.changeAsOperator(requester, { state: "active" });
    await tenant.completes(payment);
  });

  it("does not release what a suspended tenant requested", async () => {
    await role.run(`UPDATE open_transactions SET retry_at = '2099-01-01' WHERE ${own()}`);
    await approve();
    await service.setTenantSuspended(tenant.owner, true);
    await role.run(`
      UPDATE tenants SET suspended_at = NULL WHERE id = '${tenantId}';
      UPDATE open_transactions SET retry_at = NULL, due_at = '-infinity' WHERE ${own()}`);
    await isHeld();
    await service.setTenantSuspended(tenant.owner, false);
    await eventually(
      () => service.database.query(sql`SELECT FROM open_transactions WHERE id = ${readId("tx", payment.id)}`),
      (rows) => rows.length === 0,
    );
  });
});
