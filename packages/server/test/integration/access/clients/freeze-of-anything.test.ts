import { readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

/** Of a freeze that fails, the stop alone is recorded. The id of anything else has its records in the same table. */
describe("a freeze whose connection to the database is lost", () => {
  async function freezeWithoutDatabase(tenant: Awaited<ReturnType<typeof createGuardedTenant>>, id: string) {
    const freezer = await tenant.hire(["wallets:freeze"]);
    return await service.database.session(async (session) => {
      await session.script("BEGIN; LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE");
      const frozen = tenant.call(freezer, "POST", `/v1/wallets/${id}/freeze`, {});
      const terminate = () =>
        service.database.query(sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid()
            AND query LIKE '%wallets%' AND query NOT LIKE '%pg_terminate_backend%'`);
      await eventually(terminate, (ended) => ended.length > 0);
      await session.script("ROLLBACK");
      return { freezer, answer: await frozen };
    });
  }

  const recordsOf = (uuid: string) =>
    service.database.query(sql`SELECT stopped FROM stop_records WHERE subject_id = ${uuid} AND stopped`);

  it("stops nothing but a wallet: not a client, not the tenant, and no payment", async () => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const payment = await tenant.pay(await tenant.hire(["transactions:write", "transactions:read"]));
    const subjects = [
      readId("cli", officer.clientId),
      readId("tnt", tenant.owner.tenantId),
      readId("tx", payment.id),
    ].map((uuid) => uuid ?? "");
    const shown = [officer.clientId, tenant.owner.tenantId, payment.id];
    for (const [index, uuid] of subjects.entries()) {
      const id = `wlt_${shown[index]?.split("_")[1]}`;
      await freezeWithoutDatabase(tenant, id);
      expect(await recordsOf(uuid)).toEqual([]);
    }
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
  });

  it("holds for a wallet, and is in the audit log", async () => {
    const tenant = await createGuardedTenant(service);
    const payment = await tenant.pay(await tenant.hire(["transactions:write", "transactions:read"]));
    const { source } = payment;
    const wallet = source !== null && "wallet_id" in source ? source.wallet_id : "";
    const { freezer } = await freezeWithoutDatabase(tenant, wallet);
    expect(await recordsOf(readId("wlt", wallet) ?? "")).toEqual([{ stopped: true }]);
    const auditor = await tenant.hire(["audit:read"]);
    const entries = () =>
      tenant.call(auditor, "GET", `/v1/audit?action=wallet.freeze&client_id=${freezer.clientId}`);
    await eventually(entries, ({ body }) => (body as unknown as { data: unknown[] }).data.length === 1);
  });
});
