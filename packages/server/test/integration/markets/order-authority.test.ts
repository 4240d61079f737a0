import { randomUUID } from "node:crypto";
import type { PolicyDocument } from "@bursar/domain";
import type { Order } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

const ownWalletsOnly: PolicyDocument = {
  rules: [{ name: "own-wallets", when: { destinations: ["own_wallet"] }, action: "allow" }],
  default: { action: "reject", reason: "Only to our own wallets." },
};

describe("a client that may place orders and nothing else", () => {
  let service: TestService;
  let attacker: Trader;
  beforeAll(async () => {
    service = await startTestService();
    attacker = await createTrader(service, { USD: "1000000" });
  });
  afterAll(async () => {
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });

  /** A tenant with 1000 ETH and this policy, and a client of it with the scope `orders:write`. */
  async function createVictim(policy?: PolicyDocument) {
    const victim = await createTrader(service, { ETH: "1000" }, { allowsOrders: false });
    if (policy !== undefined) await policyOf(service, victim.token).replace(policy);
    const answer = await service.call("POST", "/v1/clients", victim.token, {
      name: "stolen",
      scopes: ["orders:write"],
    });
    const { id, secret } = (await answer.json()) as { id: string; secret: string };
    const token = await service.token({ clientId: id, secret });
    const place = async (order: object) => {
      const body = { market: "ETH-USD", ...order };
      const placed = await service.call("POST", "/v1/orders", token, body, {
        "idempotency-key": randomUUID(),
      });
      return {
        status: placed.status,
        body: (await placed.json()) as Order & { error?: { code: string; message: string } },
      };
    };
    return { ...victim, place };
  }

  it.each([
    ["a limit order at 1 USD", { side: "sell", price: "1", size: "1000" }],
    ["a market order into a bid at 1 USD", { side: "sell", type: "market", size: "1000" }],
  ])("cannot sell to another tenant under a policy for own wallets, by %s", async (_, order) => {
    const victim = await createVictim(ownWalletsOnly);
    await attacker.place({ side: "buy", price: "1", size: "1000" });
    const { status, body } = await victim.place(order);
    expect([status, body.error]).toMatchObject([
      403,
      { code: "POLICY_REJECTED", message: "Only to our own wallets." },
    ]);
    expect(await victim.balances()).toMatchObject({ ETH: ["1000", "0"] });
  });

  it("cannot sell under the policy of a new tenant, which says how orders are allowed", async () => {
    const victim = await createVictim();
    const { status, body } = await victim.place({ side: "sell", price: "3000", size: "1" });
    expect([status, body.error?.code]).toEqual([403, "POLICY_REJECTED"]);
    expect(body.error?.message).toContain(
      '{"name": "orders", "when": {"kind": "order"}, "action": "allow"}, with PUT /v1/policy',
    );
  });

  it("can sell in the markets that the policy names, and in no other", async () => {
    const victim = await createVictim({
      ...ownWalletsOnly,
      rules: [{ name: "ether", when: { markets: ["ETH-USD"] }, action: "allow" }],
    });
    await service.fund(victim.owner, "USDC", "1000");
    expect((await victim.place({ side: "sell", price: "3000", size: "1" })).status).toBe(202);
    const elsewhere = await victim.place({ market: "USDC-USD", side: "sell", price: "1", size: "100" });
    expect([elsewhere.status, elsewhere.body.error?.code]).toEqual([403, "POLICY_REJECTED"]);
    const reader = await tradingAs(service, victim.owner);
    expect(Object.keys(await reader.balances()).sort()).toEqual(["ETH", "USDC"]);
  });
});
