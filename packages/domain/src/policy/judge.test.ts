import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../id/type-id.js";
import { createAssetRegistry } from "../money/asset.js";
import { isFinal, type TransactionState, transactionStates } from "../transaction/transitions.js";
import { compilePolicy } from "./compile-policy.js";
import { defaultPolicy, tradingPolicy } from "./document/default-policy.js";
import type { DestinationKind, PolicyDocument } from "./document/policy-document.js";
import { createTimeZones } from "./hour-of-day.js";
import { judge, judgeWithUsage, neededWindows } from "./judge.js";
import type { PolicyRequest } from "./policy-request.js";
import { countsTowardsLimits, countTransaction, type UsageByWindow } from "./usage.js";

const common = { caip19: null, network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry([
    { code: "USD", decimals: 2, ...common },
    { code: "ETH", decimals: 18, ...common },
  ]),
  networks: new Set(["book"]),
  markets: new Set(["ETH-USD", "USDC-USD"]),
  timeZones: createTimeZones(),
};
const client = "018f0000-0000-7000-8000-000000000001";
const request: PolicyRequest = {
  market: null,
  tenantId: "018f0000-0000-7000-8000-00000000000a",
  clientId: client,
  asset: "USD",
  amount: 100n,
  network: "book",
  sourceWalletId: "018f0000-0000-7000-8000-00000000000b",
  sourcePurpose: "treasury",
  destination: "own_wallet",
  requestedAtMs: Date.UTC(2026, 0, 1),
};
const compiled = (document: PolicyDocument) => {
  const { policy, faults } = compilePolicy(document, world);
  if (policy === undefined) throw new Error(JSON.stringify(faults));
  return policy;
};
const dailyLimit: PolicyDocument = {
  rules: [
    {
      name: "daily-limit",
      when: { sum: { asset: "USD", per: "tenant", period_seconds: 86_400, above: "10000.00" } },
      action: "reject",
      reason: "The daily limit is exhausted.",
    },
  ],
  default: { action: "allow" },
};

const order: PolicyRequest = { ...request, market: "ETH-USD", destination: "market" };

describe("a rule", () => {
  const verdictOn = (asked: PolicyRequest, when: PolicyDocument["rules"][number]["when"]) =>
    judge(
      compiled({
        rules: [{ name: "it", when, action: "allow" }],
        default: { action: "reject", reason: "no" },
      }),
      asked,
    ).rule;

  it.each<[string, PolicyDocument["rules"][number]["when"], string, string]>([
    ["nothing", {}, "it", "it"],
    ["the kind order", { kind: "order" }, "default", "it"],
    ["the kind transaction", { kind: "transaction" }, "it", "default"],
    ["a market", { markets: ["ETH-USD"] }, "default", "it"],
    ["another market", { markets: ["USDC-USD"] }, "default", "default"],
    ["the destination market", { destinations: ["market"] }, "default", "it"],
    ["own wallets", { destinations: ["own_wallet"] }, "it", "default"],
    ["an asset and the kind order", { assets: ["USD"], kind: "order" }, "default", "it"],
    ["another asset and the kind order", { assets: ["ETH"], kind: "order" }, "default", "default"],
  ])("that names %s applies to the right kind", (_, when, onTransaction, onOrder) => {
    expect(verdictOn(request, when)).toBe(onTransaction);
    expect(verdictOn(order, when)).toBe(onOrder);
  });
});

describe("the policy of a new tenant", () => {
  const policy = compiled(defaultPolicy);
  it.each<[DestinationKind, string, string]>([
    ["own_wallet", "allow", "own-wallets"],
    ["listed_address", "allow", "listed-addresses"],
    ["other_wallet", "reject", "default"],
    ["address", "reject", "default"],
  ])("%s: %s by %s, on the spot", (destination, kind, rule) => {
    expect(judge(policy, { ...request, destination })).toMatchObject({ kind, rule });
  });

  it("refuses orders, and says how to allow them", () => {
    expect(judge(policy, order)).toMatchObject({
      kind: "reject",
      rule: "no-orders",
      reason: expect.stringContaining("PUT /v1/policy"),
    });
    expect(judge(compiled(tradingPolicy), order)).toMatchObject({ kind: "allow", rule: "orders" });
    expect(judge(compiled(tradingPolicy), { ...request, destination: "address" })).toMatchObject({
      kind: "reject",
    });
  });
});

describe("a rolling limit", () => {
  const policy = compiled(dailyLimit);

  it("defers the verdict to the engine, but only for its asset", () => {
    expect(judge(policy, request)).toEqual({ kind: "later", rule: "daily-limit" });
    expect(judge(policy, { ...request, asset: "ETH" })).toEqual({ kind: "allow", rule: "default" });
    expect(neededWindows(policy, { ...request, asset: "ETH" })).toEqual([]);
  });

  it("allows a transaction that reaches it exactly, rejects one that exceeds it, and reports the sums", () => {
    const key = neededWindows(policy, request)[0]?.key as string;
    const judged = (sum: bigint) => judgeWithUsage(policy, request, new Map([[key, { sum, count: 7n }]]));
    expect(judged(999_900n)).toMatchObject({
      verdict: { kind: "allow", rule: "default" },
      measurements: [{ rule: "daily-limit", before: 999_900n, including: 1_000_000n, isAbove: false }],
    });
    expect(judged(999_901n)).toMatchObject({
      verdict: { kind: "reject", rule: "daily-limit", reason: "The daily limit is exhausted." },
      measurements: [{ limit: { above: 1_000_000n }, including: 1_000_001n, isAbove: true }],
    });
  });

  it("is not exceeded by a thousand concurrent transactions", () => {
    const usage: UsageByWindow = new Map();
    const requests = Array.from({ length: 1000 }, (_, index) => ({
      ...request,
      amount: BigInt(2000 + (index % 13)),
    }));
    for (const { key } of requests.flatMap((one) => neededWindows(policy, one)))
      usage.set(key, { sum: 1n, count: 1n });
    let total = 1n;
    for (const one of requests) {
      const isAllowed = judgeWithUsage(policy, one, usage).verdict.kind === "allow";
      expect(isAllowed).toBe(total + one.amount <= 1_000_000n);
      if (isAllowed) countTransaction(policy, one, usage);
      if (isAllowed) total += one.amount;
    }
    expect([...usage.values()]).toEqual([{ sum: total, count: expect.any(BigInt) }]);
    expect(1_000_000n - total).toBeLessThan(2012n);
  });

  it("cannot be judged without its sums", () => {
    expect(() => judgeWithUsage(policy, request, new Map())).toThrow("was not loaded");
  });

  it("is not evaluated if an earlier rule decides", () => {
    const rules: PolicyDocument["rules"] = [
      { name: "trusted", when: { clients: [typeIdFromUuid("cli", client)] }, action: "allow" },
      ...dailyLimit.rules,
    ];
    expect(neededWindows(compiled({ ...dailyLimit, rules }), request)).toEqual([]);
    expect(neededWindows(compiled({ ...dailyLimit, rules: rules.toReversed() }), request)).toHaveLength(1);
  });

  it("counts only transactions that are held or paid", () => {
    const counting = (Object.keys(transactionStates) as TransactionState[]).filter(countsTowardsLimits);
    expect(counting.filter(isFinal)).toEqual(["completed"]);
    expect(counting).toHaveLength(5);
    expect(counting).not.toContain("accepted");
  });
});

describe("windows", () => {
  it("are shared by rules with the same scope, asset and period, for sums and counts alike", () => {
    const window = { asset: "USD", per: "client", period_seconds: 3600 } as const;
    const policy = compiled({
      rules: [
        { name: "a", when: { sum: { ...window, above: "5" } }, action: "reject", reason: "sum" },
        { name: "b", when: { count: { ...window, above: 2 } }, action: "reject", reason: "count" },
        {
          name: "c",
          when: { count: { per: "client", period_seconds: 3600, above: 9 } },
          action: "reject",
          reason: "all",
        },
      ],
      default: { action: "allow" },
    });
    const windows = neededWindows(policy, request);
    expect(windows.map(({ per, id, asset, periodSeconds }) => [per, id, asset, periodSeconds])).toEqual([
      ["client", client, "USD", 3600],
      ["client", client, null, 3600],
    ]);
    const usage: UsageByWindow = new Map(windows.map(({ key }) => [key, { sum: 0n, count: 0n }]));
    countTransaction(policy, request, usage);
    countTransaction(policy, { ...request, asset: "ETH" }, usage);
    countTransaction(policy, { ...request, clientId: request.tenantId }, usage);
    expect([...usage.values()]).toEqual([
      { sum: 100n, count: 1n },
      { sum: 0n, count: 2n },
    ]);
  });
});
