import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { insertStop } from "../../../src/store/access/stops/stop-records.js";
import { sql } from "../../../src/store/core/sql.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** The writer has the rights of the service's role, and no master key. It holds a lock while a stop is written, so that only the stop is. */
describe("a resting order whose client, tenant or wallet is stopped", () => {
  let service: TestService;
  let role: ServiceRole;
  let maker: Trader;
  let taker: Trader;
  beforeAll(async () => {
    service = await startTestService();
    role = await createServiceRole(service.database);
  });
  afterAll(async () => {
    await role?.drop();
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });
  beforeEach(async () => {
    maker = await createTrader(service, { ETH: "10" });
    taker = await createTrader(service, { USD: "100000" });
  });

  const sell = { side: "sell", price: "100", size: "1" };
  const take = () => taker.placed({ side: "buy", price: "100", size: "1", time_in_force: "ioc" });
  const tenantIdOf = ({ owner }: Trader) => readId("tnt", owner.tenantId) ?? "";
  const subjectsOf = ({ owner }: Trader, wallet: string) => ({
    client: readId("cli", owner.clientId) ?? "",
    tenant: tenantIdOf(maker),
    wallet: readId("wlt", wallet) ?? "",
  });
  const endsWith = (code: string) => ({ state: "cancelled", filled: "0.00", failure: { code } });
  const expectTrading = async () => {
    const other = await createTrader(service, { ETH: "10" });
    const { id } = await other.placed(sell);
    expect(await take()).toMatchObject({ filled: "1.00" });
    expect(await other.read(id)).toMatchObject({ state: "filled" });
  };

  it("does not trade while a lock keeps the rest of the stop from being written", async () => {
    const scopes = ["orders:write", "orders:read"];
    const created = (await maker.send("POST", "/v1/clients", { name: "trading", scopes }))
      .body as unknown as { id: string; secret: string };
    const token = await service.token({ clientId: created.id, secret: created.secret });
    const body = { market: "ETH-USD", ...sell };
    const placed = await service.call("POST", "/v1/orders", token, body, { "idempotency-key": "resting" });
    const { id } = (await placed.json()) as { id: string };
    await maker.until(id, ({ state }) => state === "open");
    await service.database.session(async (session) => {
      await session.script(
        `BEGIN; SELECT FROM audit_heads WHERE tenant_id = '${tenantIdOf(maker)}' FOR UPDATE`,
      );
      const path = `/v1/clients/${created.id}`;
      expect((await maker.send("PATCH", path, { state: "disabled" })).status).toBe(200);
      expect(await take()).toMatchObject({ filled: "0.00" });
      await session.script("ROLLBACK");
    });
    expect(await maker.read(id)).toMatchObject(endsWith("CLIENT_DISABLED"));
    await expectTrading();
  });

  it.each(["client", "tenant", "wallet"] as const)(
    "is cancelled although nobody trades with it, and although no sweep of its %s could be recorded",
    async (kind) => {
      const { id, wallet_id: wallet } = await maker.placed({ ...sell, price: "500" });
      const subjectId = subjectsOf(maker, wallet)[kind];
      await service.database.query(insertStop({ tenantId: tenantIdOf(maker), subjectId }));
      const isOpen = () =>
        service.database.query(sql`SELECT FROM open_orders WHERE id = ${readId("ord", id)}`);
      await eventually(isOpen, (rows) => rows.length === 0);
    },
  );

  it.each([
    ["client", "CLIENT_DISABLED"],
    ["tenant", "CLIENT_DISABLED"],
    ["wallet", "WALLET_FROZEN"],
  ] as const)("does not trade if only the record of its %s was written", async (kind, code) => {
    const { id, wallet_id: wallet } = await maker.placed(sell);
    const behind = await maker.placed({ ...sell, price: "99" });
    const subjectId = subjectsOf(maker, wallet)[kind];
    await service.database.query(insertStop({ tenantId: tenantIdOf(maker), subjectId }));
    expect(await take()).toMatchObject({ filled: "0.00" });
    await expectTrading();
    const ids = [id, behind.id].map((each) => readId("ord", each) ?? "");
    const rows = await service.database.query<{ state: string; code: string }>(sql`
      SELECT state, failure_code AS code FROM events WHERE subject_id = ANY (${ids}::uuid[]) AND state <> 'open'`);
    expect(rows).toEqual([
      { state: "cancelled", code },
      { state: "cancelled", code },
    ]);
  });

  it.each([
    ["the end of the stop", false],
    ["that it was just written as a whole", true],
  ])("does not trade if the writer then records %s, without a MAC of the service", async (_, stopped) => {
    const { id } = await maker.placed(sell);
    const subjectId = readId("cli", maker.owner.clientId) ?? "";
    await service.database.query(insertStop({ tenantId: tenantIdOf(maker), subjectId }));
    await role.run(`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, key_id, mac)
      SELECT '${tenantIdOf(maker)}', '${subjectId}', 2, ${stopped}, now(), c.key_id, sha256('x')
      FROM clients c WHERE c.id = '${subjectId}'`);
    expect(await take()).toMatchObject({ filled: "0.00" });
    await expectTrading();
    const open = await service.database.query(sql`SELECT FROM open_orders WHERE id = ${readId("ord", id)}`);
    expect(open).toEqual([]);
  });
});
