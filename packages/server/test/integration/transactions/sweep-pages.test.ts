import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Sweep } from "../../../src/app/clients/sweep.js";
import { createSweepStore } from "../../../src/store/access/sweeps.js";
import { sql } from "../../../src/store/core/sql.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a sweep of a client beside another one with many open transactions", () => {
  const { database } = service;
  const store = createSweepStore(service.keyed);
  let sweep: Sweep;
  const before = 2400;
  beforeAll(async () => {
    const owner = await service.createTenant();
    const tenantId = readId("tnt", owner.tenantId) ?? "";
    const { clientId: shown } = await service.createIndependentClient(owner, ["transactions:write"]);
    const clientId = readId("cli", shown) ?? "";
    // They wait for approval, so the engine leaves them alone. The last one is that of the client.
    await database.run(`
      WITH made AS (
        INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount,
          source_account_id, destination_account_id, created_at)
        SELECT p.tenant_id, uuidv7(n * interval '1 millisecond' - interval '1 minute'), gen_random_uuid()::text, '\\x00',
          CASE WHEN n > ${before} THEN '${clientId}' ELSE '${owner.client.id}' END::uuid, 'open', 'USD', 1, p.id, s.id, now()
        FROM wallets p JOIN wallets s ON s.tenant_id = p.tenant_id AND s.role = 'settlement', generate_series(1, ${before + 1}) n
        WHERE p.tenant_id = '${tenantId}' AND p.role = 'primary' RETURNING tenant_id, id)
      INSERT INTO open_transactions (tenant_id, id, state, version, due_at)
        SELECT tenant_id, id, 'awaiting_approval', 1, 'infinity' FROM made`);
    sweep = {
      tenantId,
      clientId,
      kind: "cancel_transactions",
      requestedBy: clientId,
      requestedAt: new Date(),
    };
  });
  afterAll(() => database.run(`DELETE FROM open_transactions WHERE tenant_id = '${sweep.tenantId}'`));

  it("reads them in pages, and finds its own behind them", async () => {
    const first = await store.listOpen(sweep, undefined, 100);
    expect(first).toMatchObject({ unsettled: [], onRail: [], next: expect.any(String) });
    const second = await store.listOpen(sweep, first.next, 100);
    expect(second).toMatchObject({ unsettled: [expect.any(String)], onRail: [], next: undefined });
  });

  it("asks rails to cancel only what it names", async () => {
    const last = sql`(SELECT id FROM open_transactions WHERE tenant_id = ${sweep.tenantId} ORDER BY id DESC LIMIT 1)`;
    const of = sql`tenant_id = ${sweep.tenantId} AND id = ${last}`;
    await database.query(sql`UPDATE open_transactions SET state = 'processing' WHERE ${of}`);
    const { next } = await store.listOpen(sweep, undefined, 100);
    const { onRail } = await store.listOpen(sweep, next, 100);
    expect(onRail).toHaveLength(1);
    await store.requestRailCancels(sweep, onRail);
    const rows = await database.query(
      sql`SELECT FROM open_transactions WHERE tenant_id = ${sweep.tenantId} AND cancel_requested`,
    );
    expect(rows).toHaveLength(1);
    expect(await store.listOpen(sweep, next, 100)).toMatchObject({ unsettled: [], onRail: [] });
    await database.query(sql`UPDATE open_transactions SET state = 'awaiting_approval' WHERE ${of}`);
  });

  it("releases what was set aside in pages, and finds its own behind the others", async () => {
    await database.query(
      sql`UPDATE open_transactions SET retry_at = 'infinity' WHERE tenant_id = ${sweep.tenantId}`,
    );
    const first = await store.releaseHeld(sweep, undefined, 100);
    expect(first).toMatchObject({ releasedCount: 0, next: expect.any(String) });
    expect(await store.releaseHeld(sweep, first.next, 100)).toEqual({ releasedCount: 1, next: undefined });
    const ofAll = { ...sweep, clientId: "00000000-0000-0000-0000-000000000000" };
    expect(await store.releaseHeld(ofAll, undefined, 100)).toMatchObject({ releasedCount: 100 });
  });
});
