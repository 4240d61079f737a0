import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { nilTenantId } from "../../../src/app/audit/audit-entry.js";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();
const lastNumber = "9223372036854775807";

/** The writer has the rights of the service's role, and no master key. It wants a stop to fail, so that payments go on. */
describe("a stop that a writer to the database wants to fail", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let tenantId: string;
  let officer: Person;
  let payment: Transaction;
  let wallet: string;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    officer = await tenant.hire();
    payment = await tenant.pay(tenant.admin);
    const { source } = payment;
    wallet = source !== null && "wallet_id" in source ? source.wallet_id : "";
  });

  const freeze = () => tenant.call(tenant.admin, "POST", `/v1/wallets/${wallet}/freeze`, {});
  const unfreeze = () => tenant.call(tenant.admin, "POST", `/v1/wallets/${wallet}/unfreeze`, {});
  const cancel = () => tenant.call(tenant.admin, "POST", `/v1/transactions/${payment.id}/cancel`);
  const frozen = { status: 200, body: { frozen: true } };
  const clientId = () => readId("cli", officer.clientId) ?? "";
  const state = async () => (await tenant.read(payment.id)).state;
  const record = (subjectId: string, number: number | string) =>
    role.run(`INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      VALUES ('${tenantId}', '${subjectId}', ${number}, false, now())`);
  const forgeEntry = (number: string) =>
    role.run(`
      INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, outcome, repeated, hash)
      SELECT tenant_id, ${number}, now(), 'operator', 'test.forged', 'succeeded', 1, sha256('x')
      FROM audit_heads WHERE tenant_id = '${tenantId}'`);
  const setSequence = async (sequence: string) => {
    const [row] = await service.database.query<{ sequence: string }>(
      sql`SELECT sequence FROM event_sequences WHERE tenant_id = ${tenantId}`,
    );
    await role.run(`UPDATE event_sequences SET sequence = ${sequence} WHERE tenant_id = '${tenantId}'`);
    return row?.sequence ?? "0";
  };
  /** The engine has looked at it, and does not pay it. */
  const isNotPaid = async () => {
    await tenant.tallied(payment);
    expect(await state()).not.toBe("completed");
  };

  it("is carried out although the audit log has an entry with the last number, and its head the highest that is allowed", async () => {
    await forgeEntry(lastNumber);
    const raise = (number: string, id = tenantId) =>
      role.run(`UPDATE audit_heads SET number = ${number} WHERE tenant_id = '${id}'`);
    await expect(raise(lastNumber)).rejects.toThrow("too far ahead");
    await expect(raise(lastNumber, nilTenantId)).rejects.toThrow("too far ahead");
    await expect(raise("-20000000")).rejects.toThrow("audit_heads_number_check");
    await forgeEntry("number + 10000000");
    await raise("number + 10000000");
    expect(await freeze()).toMatchObject(frozen);
    await service.changeAsOperator(officer, { state: "disabled" });
    await service.setTenantSuspended(tenant.owner, true);
    await eventually(freeze, ({ code }) => code === "TENANT_SUSPENDED");
    // What the tenant did before is written in batches, and can come later than the forged head.
    const acts = await service.database.query<{ action: string }>(sql`
      SELECT action FROM audit_entries WHERE tenant_id = ${tenantId} AND number > 10000000
        AND action NOT IN ('token.issue', 'transaction.create') ORDER BY number`);
    expect(acts.map(({ action }) => action)).toEqual([
      "test.forged",
      "audit.head_changed",
      "wallet.freeze",
      "client.change",
      "tenant.suspend",
      "test.forged",
    ]);
  });

  it("cannot be kept from a log that does not exist yet", async () => {
    await expect(
      role.run(
        `INSERT INTO audit_heads (tenant_id, number, hash) VALUES (gen_random_uuid(), ${lastNumber}, '')`,
      ),
    ).rejects.toThrow("too far ahead");
  });

  it("is carried out although something else has numbered a record of the wallet, and the wallet can be unfrozen", async () => {
    const id = readId("wlt", wallet) ?? "";
    await expect(record(id, lastNumber)).rejects.toThrow("does not follow");
    await record(id, 1000);
    await expect(record(id, 1002)).rejects.toThrow("does not follow");
    await expect(
      role.run(`CREATE TEMP TABLE stop_records AS SELECT tenant_id, subject_id, ${lastNumber}::bigint AS number
        FROM public.stop_records WHERE subject_id = '${id}';
        INSERT INTO public.stop_records (tenant_id, subject_id, number, stopped, recorded_at)
        VALUES ('${tenantId}', '${id}', ${lastNumber}, false, now())`),
    ).rejects.toThrow("does not follow");
    await service.database.run("DROP TABLE IF EXISTS pg_temp.stop_records");
    expect(await freeze()).toMatchObject(frozen);
    await record(id, 1001);
    const shown = await tenant.call(tenant.admin, "GET", `/v1/wallets/${wallet}`);
    expect(shown.body).toMatchObject({ frozen: true });
    expect(await unfreeze()).toMatchObject({ status: 200, body: { frozen: false } });
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("disables an officer whose record was forged, who could not approve before either", async () => {
    await record(clientId(), 1000);
    expect((await tenant.approve(officer, payment)).status).toBeGreaterThanOrEqual(401);
    await service.changeAsOperator(officer, { state: "disabled" });
    await expect(service.token(officer)).rejects.toThrow();
    expect(await state()).toBe("awaiting_approval");
  });

  it("does not count the approval of an officer about whom a record was forged afterwards", async () => {
    await role.run(
      `UPDATE open_transactions SET retry_at = '2099-01-01' WHERE id = '${readId("tx", payment.id)}'`,
    );
    await tenant.approve(officer, payment);
    await record(clientId(), 1);
    await role.run(`UPDATE open_transactions SET retry_at = NULL WHERE id = '${readId("tx", payment.id)}'`);
    await isNotPaid();
    expect(await state()).toBe("awaiting_approval");
  });

  it("cancels a payment about which something else has recorded something", async () => {
    await record(readId("tx", payment.id) ?? "", 1000);
    expect(await cancel()).toMatchObject({ status: 202, body: { state: "cancelled" } });
  });

  it("freezes a wallet whose version is the highest", async () => {
    await role.run(`UPDATE wallets SET version = 2147483647 WHERE id = '${readId("wlt", wallet)}'`);
    expect(await freeze()).toMatchObject(frozen);
    await tenant.approve(officer, payment);
    await isNotPaid();
  });

  it("freezes a wallet, and cancels a payment for good, although no event can be written", async () => {
    const before = await setSequence(lastNumber);
    expect(await freeze()).toMatchObject(frozen);
    expect(await cancel()).toMatchObject({ status: 202 });
    await setSequence(before);
    expect(await unfreeze()).toMatchObject({ status: 200 });
    await tenant.approve(officer, payment);
    await isNotPaid();
  });

  it("disables a client whose row is locked, or changed and then put right", async () => {
    await service.database.session(async (session) => {
      await session.script(`BEGIN; SELECT FROM clients WHERE id = '${clientId()}' FOR UPDATE`);
      await service.changeAsOperator(officer, { state: "disabled" });
      await session.script("ROLLBACK");
    });
    await expect(service.token(officer)).rejects.toThrow();
    const other = await tenant.hire();
    const rename = (name: string) =>
      role.run(`UPDATE clients SET name = '${name}' WHERE id = '${readId("cli", other.clientId)}'`);
    await rename("changed");
    await service.changeAsOperator(other, { state: "disabled" });
    await rename("officer");
    await expect(service.token(other)).rejects.toThrow();
    await service.changeAsOperator(other, { state: "active" });
    expect(await service.token(other)).toBeTypeOf("string");
  });

  it("ends the tokens of a client whose row is locked, also if it is enabled later and its row is put back", async () => {
    const before = await service.token(officer);
    const kept = `kept_${clientId().replaceAll("-", "")}`;
    await service.database.run(
      `CREATE TABLE ${kept} AS SELECT * FROM clients WHERE id = '${clientId()}'; GRANT SELECT ON ${kept} TO PUBLIC`,
    );
    await service.database.session(async (session) => {
      await session.script(`BEGIN; SELECT FROM clients WHERE id = '${clientId()}' FOR UPDATE`);
      await service.changeAsOperator(officer, { state: "disabled" });
      await session.script("ROLLBACK");
    });
    await service.changeAsOperator(officer, { state: "active" });
    const me = async (token: string) => (await service.call("GET", "/v1/me", token)).status;
    expect(await me(await service.token(officer))).toBe(200);
    expect(await me(before)).toBe(401);
    const columns = "state, updated_at, disabled_at, authority_changed_by, authority_changed_at, key_id, mac";
    await role.run(
      `UPDATE clients SET (${columns}) = (SELECT ${columns} FROM ${kept}) WHERE id = '${clientId()}'`,
    );
    await service.database.run(`DROP TABLE ${kept}`);
    expect(await me(await service.token(officer))).toBe(200);
    expect(await me(before)).toBe(401);
  });

  it("disables a client for an administrator although the head of the audit log is locked", async () => {
    const { body } = await tenant.call(tenant.admin, "POST", "/v1/clients", {
      name: "reader",
      scopes: ["wallets:read"],
    });
    const path = `/v1/clients/${(body as { id: string }).id}`;
    await service.database.session(async (session) => {
      await session.script(`BEGIN; SELECT FROM audit_heads WHERE tenant_id = '${tenantId}' FOR UPDATE`);
      expect((await tenant.call(tenant.admin, "PATCH", path, { state: "disabled" })).status).toBe(200);
      await session.script("ROLLBACK");
    });
    expect((await tenant.call(tenant.admin, "GET", path)).body).toMatchObject({ state: "disabled" });
  });

  it("is not left out because the row says already what the operator says", async () => {
    await role.run(`UPDATE tenants SET suspended_at = now() WHERE id = '${tenantId}'`);
    await service.setTenantSuspended(tenant.owner, true);
    await role.run(`UPDATE tenants SET suspended_at = NULL WHERE id = '${tenantId}'`);
    await expect(service.token(officer)).rejects.toThrow();
  });
});
