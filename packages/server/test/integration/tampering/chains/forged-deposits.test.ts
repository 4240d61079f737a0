import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withKeys } from "../../../../src/store/core/database.js";
import { auditLedger } from "../../../../src/store/ledger/audit-ledger.js";
import { createServiceRole, type ServiceRole } from "../../../harness/database/service-role.js";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";
import { createDepositTenant } from "../../../harness/transactions/deposits-client.js";

describe("money that the role of the service has written into the books", () => {
  let service: TestService;
  let role: ServiceRole;
  let tenantId: string;
  let walletId: string;
  beforeAll(async () => {
    service = await startTestService();
    role = await createServiceRole(service.database);
    const tenant = await createDepositTenant(service);
    tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
    walletId = readId("wlt", tenant.walletId) ?? "";
    expect((await tenant.deposit()).status).toBe(201);
  });
  afterAll(async () => {
    await role.drop();
    await service.stop();
  });

  const violated = async () =>
    (await auditLedger(withKeys(service.database, service.keys)))
      .filter(({ what, violations }) => violations.length > 0 && /outside|deposit/.test(what))
      .map(({ what }) => what);

  /** Everything that a deposit writes, but for a MAC. */
  const forge = (id: string) =>
    role.run(`
      INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind,
        source_account_id, destination_account_id, created_at, key_id, mac)
      SELECT tenant_id, '${id}', 'forged ${id}', request_hash, client_id, reference, asset, amount, kind, source_account_id,
        destination_account_id, created_at, key_id, mac
      FROM transactions WHERE tenant_id = '${tenantId}' AND kind = 'deposit' LIMIT 1;
      INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
      SELECT tenant_id, '${id}', line, debit_account_id, credit_account_id, asset, amount FROM ledger_entries
      WHERE tenant_id = '${tenantId}' AND credit_account_id = '${walletId}' AND line = 1 LIMIT 1`);

  it("is found by the audit of the ledger, if it is a copy of a deposit", async () => {
    expect(await violated()).toEqual([]);
    await forge("00000000-0000-7000-8000-0000000000aa");
    expect(await violated()).toEqual(["every deposit was recorded by the service"]);
  });

  it("is found by the audit of the ledger, if there is no deposit at all", async () => {
    await role.run(`
      INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
      SELECT tenant_id, '00000000-0000-7000-8000-0000000000bb', line, debit_account_id, credit_account_id, asset, amount
      FROM ledger_entries WHERE tenant_id = '${tenantId}' AND credit_account_id = '${walletId}' AND line = 1 LIMIT 1`);
    expect(await violated()).toContain("what has come in from outside is a deposit");
  });
});
