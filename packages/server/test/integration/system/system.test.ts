import { readId, type System } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

interface Failures {
  data: { kind: string; id: string; attempts: number; state: string; retry_at: string | null }[];
}

describe("GET /v1/system", () => {
  let service: TestService;
  let owner: TestClient;
  let token: string;
  let stranger: string;
  beforeAll(async () => {
    service = await startTestService({});
    owner = await service.createTenant("100");
    token = await service.token(owner);
    stranger = await service.token(await service.createTenant("100"));
  });
  afterAll(() => service.stop());

  const get = async <Body>(path: string, by = token) =>
    (await (await service.call("GET", path, by)).json()) as Body;
  const retry = (id: string, by = token) => service.call("POST", `/v1/system/failures/${id}/retry`, by);
  /** A payment that the engine has failed to process. */
  const failOne = async (reference: string, retryAt: string) => {
    const body = { reference, asset: "USD", amount: "1" };
    const created = await service.call("POST", "/v1/transactions", token, body, {
      "idempotency-key": reference,
    });
    const { id } = (await created.json()) as { id: string };
    await service.database.query(sql`
      INSERT INTO open_transactions (tenant_id, id, state, version, attempts, last_error, retry_at)
      VALUES (${readId("tnt", owner.tenantId)}, ${readId("tx", id)}, 'accepted', 1, 3, 'a secret of the inside', ${retryAt})
      ON CONFLICT (tenant_id, id) DO UPDATE SET attempts = 3, last_error = excluded.last_error, retry_at = excluded.retry_at`);
    return id;
  };

  it("shows versions, connections, markets and keys", async () => {
    const shown = await get<System>("/v1/system");
    expect(shown).toMatchObject({
      object: "system",
      process: { overloaded: false, ready: true, not_ready: [] },
      database: { clock: "trusted" },
      reader: { events: expect.any(Number) },
    });
    expect(shown.schema_version).toBeGreaterThan(70);
    expect(shown.database.connections.max).toBeGreaterThan(0);
    expect(shown.markets.map(({ market }) => market)).toContain("ETH-USD");
    expect(shown.keys.token.length).toBeGreaterThan(0);
    expect(JSON.stringify(shown)).not.toContain(owner.secret);
  });

  it("shows which process runs a market, and since when", async () => {
    const { process, markets } = await eventually(
      () => get<System>("/v1/system"),
      (shown) => shown.markets.some(({ market, holder }) => market === "ETH-USD" && holder !== null),
    );
    const { holder } = markets.find(({ market }) => market === "ETH-USD") ?? {};
    expect(holder).toEqual({ process_id: process.id, since: expect.stringMatching(/Z$/) });
    // It is acquired once, and renewed since.
    const before = Date.parse(holder?.since ?? "");
    expect(Date.now() - before).toBeGreaterThan(0);
    const [row] = await service.database.query<{ renewed: boolean }>(
      sql`SELECT expires_at > held_since AS renewed FROM markets WHERE market = 'ETH-USD'`,
    );
    expect(row?.renewed).toBe(true);
    await service.database.query(sql`UPDATE markets SET held_since = NULL`);
    const { markets: earlier } = await get<System>("/v1/system");
    expect(earlier[0]?.holder).toEqual({ process_id: process.id, since: null });
  });

  it("counts what waits of this tenant, and nothing of others", async () => {
    await service.database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT ${readId("tnt", owner.tenantId)}, uuidv7(- interval '1 minute'), gen_random_uuid(), n, 'transaction.updated', 'infinity'
      FROM generate_series(1, 12) n`);
    const { deliveries } = await get<System>("/v1/system");
    expect(deliveries.pending).toMatchObject({ count: 12, has_more: false });
    expect(Date.now() - Date.parse(deliveries.pending.oldest_at ?? "")).toBeGreaterThan(50_000);
    const foreign = await get<System>("/v1/system", stranger);
    expect(foreign.deliveries.pending).toEqual({ count: 0, has_more: false, oldest_at: null });
    expect(foreign.transactions).toEqual({
      accepted: { count: 0, has_more: false, oldest_at: null },
      awaiting_approval: { count: 0, has_more: false },
      on_rails: 0,
    });
  });

  it("lists what has failed, without the reason, and makes it due", async () => {
    const later = await failOne("later", new Date(Date.now() + 3_600_000).toISOString());
    const aside = await failOne("aside", "infinity");
    const { data } = await get<Failures>("/v1/system/failures");
    expect(data).toMatchObject([
      { kind: "transaction", id: later, attempts: 3, state: "waiting", retry_at: expect.any(String) },
      { kind: "transaction", id: aside, attempts: 3, state: "set_aside", retry_at: null },
    ]);
    expect(JSON.stringify(data)).not.toContain("secret");
    expect((await get<Failures>("/v1/system/failures", stranger)).data).toEqual([]);
    expect((await retry(later, stranger)).status).toBe(404);
    expect((await retry(later)).status).toBe(200);
    expect((await retry(aside)).status).toBe(200);
    const { data: audited } = await get<{ data: { action: string; object: string }[] }>(
      "/v1/audit?action=failure.retry",
    );
    expect(audited.map(({ object }) => object).sort()).toEqual([later, aside].sort());
  });

  it("retries nothing that has not failed", async () => {
    for (const id of [owner.clientId, "tx_01h455vb4pex5vsknk084sn02q", "x", "%00", "tx_".repeat(30)]) {
      const answer = await retry(encodeURIComponent(id));
      expect([id, [400, 404].includes(answer.status)]).toEqual([id, true]);
    }
  });
});
