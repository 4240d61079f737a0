import type { PolicyDocument } from "@bursar/domain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant } from "../../harness/transactions/policy-client.js";
import { startWebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const dayMs = 86_400_000;
/** Tests and database share a machine, so their clocks agree; what is left is the time that things take. */
const nearlyMs = 60_000;

const oneAMinute: PolicyDocument = {
  rules: [
    {
      name: "one-a-minute",
      when: { count: { per: "tenant", period_seconds: 60, above: 1 } },
      action: "reject",
      reason: "One a minute.",
    },
  ],
  default: { action: "allow" },
};

/** A process whose machine's clock can be set. */
async function startWithClock() {
  const clock = { skewMs: 0 };
  const wallMs = () => Date.now() + clock.skewMs;
  const clocks = { wallMs, measureEveryMs: 100 };
  const service = await startTestService({}, undefined, undefined, undefined, clocks);
  return { service, clock };
}

describe("a process whose clock was set 30 days ahead", () => {
  let service: TestService;
  beforeAll(async () => {
    const started = await startWithClock();
    service = started.service;
    started.clock.skewMs = 30 * dayMs;
  });
  afterAll(() => service.stop());

  it("does not use up a rolling limit for 30 days", async () => {
    const tenant = await createPolicyTenant(service);
    await tenant.usePolicy(oneAMinute);
    const pay = async () => {
      const { id } = (await (await tenant.create("1")).json()) as { id: string };
      const found = await eventually(
        () => tenant.read(id),
        ({ state }) => state !== "accepted",
      );
      return found.state;
    };
    expect([await pay(), await pay()]).toEqual(["completed", "rejected"]);
    const [latest] = await service.database.query<{ aheadMs: number }>(sql`
      SELECT (extract(epoch FROM max(start) - now()) * 1000)::double precision AS "aheadMs"
      FROM usage_buckets WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenant.tenantId})
    `);
    expect(latest?.aheadMs).toBeLessThan(nearlyMs);
    // A minute later.
    await service.database.query(
      sql`UPDATE usage_buckets SET start = start - interval '61 seconds' WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenant.tenantId})`,
    );
    expect(await pay()).toBe("completed");
  });

  it("issues tokens that other processes accept, and accepts theirs", async () => {
    const tenant = await service.createTenant();
    const other = await service.another();
    try {
      const ofSkewed = await service.token(tenant);
      const ofOther = await other.token(tenant);
      expect((await other.call("GET", "/v1/me", ofSkewed)).status).toBe(200);
      expect((await service.call("GET", "/v1/me", ofOther)).status).toBe(200);
    } finally {
      await other.stop();
    }
  });

  it("sends webhooks with the time at which they are sent", async () => {
    const receiver = await startWebhookReceiver();
    const tenant = await service.createTenant("100");
    const client = webhooksOf(service, await service.token(tenant));
    await client.createEndpoint(`${receiver.url}/hook`);
    await client.transact();
    const [received] = await receiver.arrived("/hook", 1);
    const sentMs = Number(received?.headers["webhook-timestamp"]) * 1000;
    expect(Math.abs(sentMs - Date.now())).toBeLessThan(nearlyMs);
    expect(Math.abs(Date.parse(received?.body.occurred_at ?? "") - Date.now())).toBeLessThan(nearlyMs);
    await receiver.stop();
  });

  it("does not move the time of a market ahead", async () => {
    const trader = await createTrader(service, { ETH: "10", USD: "100000" });
    const order = await trader.placed({ side: "buy", type: "limit", price: "2000.00", size: "1" });
    expect(order.state).toBe("open");
    const [market] = await service.database.query<{ changedAt: Date }>(
      sql`SELECT levels_changed_at AS "changedAt" FROM markets WHERE market = 'ETH-USD'`,
    );
    expect(Math.abs(Number(market?.changedAt) - Date.now())).toBeLessThan(nearlyMs);
    expect(Math.abs(Date.parse(order.created_at) - Date.now())).toBeLessThan(nearlyMs);
  });

  it("records refused requests at the database's time", async () => {
    const tenant = await service.createTenant();
    const token = await service.token(tenant, "audit:read");
    expect((await service.call("GET", "/v1/wallets", token)).status).toBe(403);
    const entries = await eventually(
      async () => {
        const listed = await service.call("GET", "/v1/audit", token);
        return ((await listed.json()) as { data: { occurred_at: string; code: string | null }[] }).data;
      },
      (data) => data.some(({ code }) => code === "INSUFFICIENT_SCOPE"),
    );
    for (const { occurred_at } of entries)
      expect(Math.abs(Date.parse(occurred_at) - Date.now())).toBeLessThan(nearlyMs);
  });
});

describe("the clock of a process", () => {
  const readiness = async ({ url }: TestService) => {
    const response = await fetch(`${url}/readyz`);
    const body = (await response.json()) as { error?: { details: { path: string; reason: string }[] } };
    return { status: response.status, detail: body.error?.details[0] };
  };

  it("makes it not ready while it differs from the database's by 5 seconds, and is a metric", async () => {
    const { service, clock } = await startWithClock();
    try {
      expect((await readiness(service)).status).toBe(200);
      clock.skewMs = -7000;
      const { detail } = await eventually(
        () => readiness(service),
        ({ status }) => status === 503,
      );
      expect(detail?.path).toBe("clock");
      expect(detail?.reason).toMatch(/^this machine's clock is [67]\.\d s behind the database's$/);
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toMatch(/^bursar_clock_skew_seconds -[67]\./m);
      // It still serves, with the database's time.
      expect(
        (await service.call("GET", "/v1/me", await service.token(await service.createTenant()))).status,
      ).toBe(200);
      clock.skewMs = 2000;
      await eventually(
        () => readiness(service),
        ({ status }) => status === 200,
      );
      const warnings = service.logLines.filter((line) => line.includes("Synchronise the clocks"));
      expect(warnings.length).toBeGreaterThan(0);
    } finally {
      await service.stop();
    }
  });

  it("dates nothing, also just after the start of a process whose clock is 25 seconds ahead", async () => {
    const ahead = { wallMs: () => Date.now() + 25_000 };
    const service = await startTestService({}, undefined, undefined, undefined, ahead);
    try {
      const tenant = await createPolicyTenant(service);
      const { created_at } = (await (await tenant.create("1")).json()) as { created_at: string };
      expect(Date.parse(created_at)).toBeLessThanOrEqual(Date.now() + 5000);
      const trader = await createTrader(service, { USD: "100000" });
      const order = await trader.placed({ side: "buy", type: "limit", price: "2000.00", size: "1" });
      expect(Date.parse(order.created_at)).toBeLessThanOrEqual(Date.now() + 5000);
    } finally {
      await service.stop();
    }
  });

  it("keeps a service from starting if it differs from the database's by 30 seconds", async () => {
    const behind = { wallMs: () => Date.now() - 31_000 };
    await expect(startTestService({}, undefined, undefined, undefined, behind)).rejects.toThrow(
      /The clocks differ: this machine's clock is 3[01]\.\d s behind the database's\./,
    );
  });
});

describe("a lease that lasts longer than any lease can", () => {
  it("is free: it was granted by a clock that was ahead", async () => {
    const { service } = await startWithClock();
    await service.database.query(sql`
      UPDATE markets SET holder = gen_random_uuid(), expires_at = now() + interval '1 day' WHERE market = 'ETH-USD'
    `);
    const other = await service.another();
    try {
      const trader = await createTrader(other, { USD: "100000" });
      const order = await trader.placed({ side: "buy", type: "limit", price: "2000.00", size: "1" });
      expect(order.state).toBe("open");
    } finally {
      await other.stop();
      await service.stop();
    }
  });
});
