import type { PolicyEvaluation, Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { blocksOf } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant, type PolicyTenant, policyOf } from "../../harness/transactions/policy-client.js";

const [trading = "", smallPayouts = "", largePayouts = "", dailyLimit = ""] = blocksOf(
  "docs/guides/policy.md",
  "json",
);

describe("the policies of the guide", () => {
  let service: TestService;
  let tenant: PolicyTenant;
  beforeAll(async () => {
    service = await startTestService({ BURSAR_DESTINATION_DELAY_SECONDS: "0" });
  });
  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
  });
  afterAll(() => service.stop());

  const post = async <Body>(path: string, body: unknown, token = tenant.token) => {
    const response = await service.call("POST", path, token, body);
    return (await response.json()) as Body;
  };
  const putInForce = async (text: string) => {
    const { status, body } = await policyOf(service, tenant.token).replace(text);
    expect([status, body.error]).toEqual([200, undefined]);
  };
  const pay = async (amount: string, more: object = {}) => {
    const answer = await tenant.create(amount, undefined, more);
    return (await answer.json()) as Transaction & { error?: { code: string; message: string } };
  };
  const paid = async (amount: string, more: object = {}) =>
    await tenant.settled((await pay(amount, more)).id, "completed");

  it("allow orders in the market that they name, and in no other", async () => {
    await putInForce(trading);
    const ruleFor = async (market: string, size: string) => {
      const order = { market, side: "sell", price: "1", size };
      return (await post<PolicyEvaluation>("/v1/policy/evaluate", { order })).rule;
    };
    expect(await ruleFor("ETH-USD", "1")).toBe("trade-ether");
    expect(await ruleFor("USDC-USD", "100")).toBe("default");
    await paid("5000");
  });

  it("allow small payouts and reject large ones", async () => {
    await putInForce(smallPayouts);
    const payouts = await createWallet("payout");
    const from = { source: { wallet_id: payouts } };
    await paid("5000", { destination: { wallet_id: payouts } });
    expect(await paid("1000.00", from)).toMatchObject({ policy_version: 1 });
    expect((await pay("1000.01", from)).error).toMatchObject({
      code: "POLICY_REJECTED",
      message: "Only payouts of up to 1,000 USD are allowed, at night only to listed addresses.",
    });

    const listed = { network: "eip155:1", address: `0x${"a".repeat(40)}` };
    const unlisted = { ...listed, address: `0x${"b".repeat(40)}` };
    await post("/v1/destinations", { label: "supplier", ...listed });
    const ruleFor = async (destination: object, amount: string, at: string) => {
      const transaction = { reference: "r", asset: "USD", amount, ...from, destination };
      const evaluation = await post<PolicyEvaluation>("/v1/policy/evaluate", { transaction, at });
      return evaluation.rule;
    };
    // In summer Berlin is two hours ahead of UTC. The years are in the future, because the allow-list is evaluated as of that time.
    const [night, day] = ["2050-07-01T03:59:59Z", "2050-07-01T04:00:00Z"];
    expect(await ruleFor(listed, "1000", night)).toBe("small-payouts");
    expect(await ruleFor(unlisted, "1000", night)).toBe("default");
    expect(await ruleFor(unlisted, "1000", day)).toBe("small-payouts-by-day");
    expect(await ruleFor(unlisted, "1000.01", day)).toBe("default");
  });

  it("require the approval of two of three officers for large payouts", async () => {
    const officers = await Promise.all(["anna", "ben", "cleo"].map((name) => tenant.addClient(name)));
    const [anna, ben, cleo] = officers as [(typeof officers)[0], (typeof officers)[0], (typeof officers)[0]];
    const outsider = await tenant.addClient("outsider");
    await putInForce(
      officers.reduce(
        (text, { id }, index) => text.replace(`cli_01hw000000e00800000000000${index + 1}`, id),
        largePayouts,
      ),
    );
    await paid("9999.99");

    const { id } = await pay("10000.00");
    const waiting = await tenant.settled(id, "awaiting_approval");
    expect(waiting.approval).toMatchObject({ rule: "large-payouts", required: 2, approved: 0 });
    expect(Date.parse(waiting.approval?.expires_at ?? "") - Date.parse(waiting.updated_at)).toBe(14_400_000);
    const digest = waiting.approval?.digest ?? "";
    expect((await tenant.say(outsider, id, digest)).status).toBe(403);
    expect((await tenant.say(tenant, id, digest)).status).toBe(403);
    expect((await tenant.say(anna, id, "0".repeat(64))).status).toBe(409);
    expect((await tenant.say(anna, id, digest)).status).toBe(202);
    expect((await tenant.read(id)).state).toBe("awaiting_approval");
    expect((await tenant.say(cleo, id, digest)).status).toBe(202);
    expect((await tenant.settled(id, "completed")).approval).toMatchObject({ approved: 2 });

    const refused = await pay("20000");
    const other = await tenant.settled(refused.id, "awaiting_approval");
    await tenant.say(ben, refused.id, other.approval?.digest ?? "", "reject");
    expect((await tenant.settled(refused.id, "rejected")).failure?.code).toBe("APPROVAL_REJECTED");
  });

  it("limit the amount that a client moves in a day, and its transactions in an hour", async () => {
    await putInForce(dailyLimit);
    await paid("6000");
    await paid("4000");
    const beyond = await tenant.settled((await pay("0.01")).id, "rejected");
    expect(beyond.failure).toEqual({
      code: "POLICY_REJECTED",
      message: "This client's limit of 10,000 USD in 24 hours is used up.",
      rule: "daily-limit",
    });

    const { id, secret } = await post<{ id: string; secret: string }>("/v1/clients", {
      name: "another",
      scopes: ["transactions:write", "transactions:read"],
    });
    const another = await service.token({ clientId: id, secret });
    const transactions = Array.from({ length: 101 }, (_, index) => ({
      idempotency_key: `batch-${index}`,
      reference: "hourly",
      asset: "USD",
      amount: "1",
    }));
    await post("/v1/transactions/batch", { transactions }, another);
    const found = await eventually(
      async () => {
        const path = "/v1/transactions?limit=200&reference=hourly";
        const list = await service.call("GET", path, another);
        return ((await list.json()) as { data: Transaction[] }).data;
      },
      (data) => data.length === 101 && data.every(({ state }) => state !== "accepted"),
    );
    expect(found.filter(({ state }) => state === "completed")).toHaveLength(100);
    expect(found.find(({ state }) => state === "rejected")?.failure?.rule).toBe("hourly-count");
  });

  async function createWallet(purpose: string): Promise<string> {
    const { id } = await post<{ id: string }>("/v1/wallets", { name: purpose, purpose });
    await eventually(
      async () => {
        const wallet = await service.call("GET", `/v1/wallets/${id}`, tenant.token);
        return ((await wallet.json()) as { state: string }).state;
      },
      (state) => state === "active",
    );
    return id;
  }
});
