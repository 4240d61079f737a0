import { readId, type Transaction } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

const service = await inspectSharedService();

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

  it("does not count with a signature that is only said to be one", async () => {
    await service.database.query(sql`
      UPDATE judgements SET requirement = requirement || '{"signed": true}' WHERE transaction_id = ${idOf(payment)}
    `);
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
    await insert("client_id, key_id, mac", ["client_id", "key_id", "mac"].map(copied).join(", "));
    await waitsStill();
  });
});
