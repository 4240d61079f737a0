import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  property,
  record,
  subarray,
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../id/type-id.js";
import { formatAmount } from "../money/amount.js";
import { createAssetRegistry } from "../money/asset.js";
import { walletPurposes } from "../wallet/wallet-purpose.js";
import { compilePolicy } from "./compile-policy.js";
import type { CompiledPolicy } from "./compiled-policy.js";
import { destinationKinds, type PolicyDocument, usageScopes } from "./document/policy-document.js";
import { createTimeZones } from "./hour-of-day.js";
import { judge, judgeWithUsage, neededWindows } from "./judge.js";
import type { PolicyRequest } from "./policy-request.js";
import { countTransaction, type UsageByWindow, type UsageWindow } from "./usage.js";

/**
 * Compares the compiled policy with a naive interpreter of the document, which tests every rule and member against the whole history, one
 * transaction after the other. The reference below shares only the input types with the code.
 */

const decimals: Record<string, number> = { USD: 2, PTS: 0, ETH: 18 };
const codes = Object.keys(decimals);
const limits = { caip19: null, network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry(codes.map((code) => ({ code, decimals: decimals[code] as number, ...limits }))),
  networks: new Set(["book", "chain"]),
  markets: new Set(["ETH-USD", "USDC-USD"]),
  timeZones: createTimeZones(),
};
const uuid = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, "0")}`;
const uuids = [1, 2, 3].map(uuid);
const startMs = Date.UTC(2026, 2, 28, 20);
const periods = [60, 3600, 86_400];

// Documents

const some = <Value>(values: readonly Value[]) => subarray([...values], { minLength: 1 });
const ids = (prefix: string) => some(uuids.map((id) => typeIdFromUuid(prefix, id)));
const units = integer({ min: 1, max: 60 });

const condition = constantFrom(...codes).chain((asset) => {
  const amount = (value: number) => formatAmount(BigInt(value), decimals[asset] as number);
  const window = { per: constantFrom(...usageScopes), period_seconds: constantFrom(...periods) };
  return record(
    {
      kind: constantFrom("transaction" as const, "order" as const),
      markets: some(["ETH-USD", "USDC-USD"]),
      assets: some(codes).map((list) => [...new Set([...list, asset])]),
      networks: some(["book", "chain"]),
      amount: oneof(
        tuple(units, units).map(([a, b]) => ({
          asset,
          min: amount(Math.min(a, b)),
          max: amount(Math.max(a, b)),
        })),
        units.map((value) => ({ asset, min: amount(value) })),
        units.map((value) => ({ asset, max: amount(value) })),
      ),
      source_wallets: ids("wlt"),
      source_purposes: some(walletPurposes),
      destinations: some(destinationKinds),
      clients: ids("cli"),
      hours: tuple(
        integer({ min: 0, max: 23 }),
        integer({ min: 0, max: 24 }),
        constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu"),
      )
        .filter(([from, to]) => from !== to)
        .map(([from, to, time_zone]) => ({ from, to, time_zone })),
      sum: record({ ...window, asset: constant(asset), above: integer({ min: 1, max: 200 }).map(amount) }),
      count: record(
        { ...window, asset: constant(asset), above: integer({ min: 1, max: 8 }) },
        { requiredKeys: ["per", "period_seconds", "above"] },
      ),
    },
    { requiredKeys: [] },
  );
});
/** Without the kind and the markets that its other members exclude: such a rule is refused. */
function possible(when: { kind?: string; markets?: string[]; destinations?: string[] }): object {
  const { kind, markets, ...rest } = when;
  const { destinations } = rest;
  const mayBeOrder = destinations === undefined || destinations.includes("market");
  const mayBeTransaction = destinations === undefined || destinations.some((one) => one !== "market");
  const isPossible = kind === undefined || (kind === "order" ? mayBeOrder : mayBeTransaction);
  return {
    ...rest,
    ...(kind !== undefined && isPossible ? { kind } : {}),
    ...(markets !== undefined && mayBeOrder && kind !== "transaction" ? { markets } : {}),
  };
}
/** Conditions have few members, because otherwise hardly any rule would match. */
const sparse = tuple(condition, array(boolean(), { minLength: 12, maxLength: 12 })).map(([full, kept]) =>
  possible(
    Object.fromEntries(Object.entries(full).filter((_, index) => kept[index] && kept[index + 1] !== true)),
  ),
);
const action = oneof(
  constant({ action: "allow" as const }),
  constant({ action: "reject" as const, reason: "because" }),
  constant({ action: "require_approval" as const, approvals: 2 }),
);
const policyDocument = record({
  rules: array(record({ when: sparse, does: action }), { maxLength: 8 }),
  default: action,
}).map(
  (drawn) =>
    ({
      rules: drawn.rules.map(({ when, does }, index) => ({ name: `rule-${index}`, when, ...does })),
      default: drawn.default,
    }) as PolicyDocument,
);

// The history: batches of transactions. Some fail after policy has allowed them, and some are cancelled later.

const request = record({
  market: constantFrom(null, "ETH-USD", "USDC-USD"),
  tenantId: constantFrom(...uuids.slice(0, 2)),
  clientId: constantFrom(...uuids),
  asset: constantFrom(...codes),
  amount: units.map(BigInt),
  network: constantFrom("book", "chain"),
  sourceWalletId: constantFrom(...uuids),
  sourcePurpose: constantFrom(...walletPurposes),
  destination: constantFrom(...destinationKinds.filter((kind) => kind !== "market")),
  requestedAtMs: integer({ min: 0, max: 86_400_000 }).map((ms) => startMs + ms),
}).map((drawn): PolicyRequest => (drawn.market === null ? drawn : { ...drawn, destination: "market" }));
const batches = array(
  record({
    afterMs: constantFrom(0, 1, 59_999, 60_000, 3_599_000, 3_600_000, 86_400_000),
    requests: array(tuple(request, boolean()), { minLength: 1, maxLength: 8 }),
    cancelled: integer({ min: 0, max: 40 }),
  }),
  { maxLength: 8 },
);
interface Counted extends PolicyRequest {
  countedAtMs: number;
}

// The reference

const unitsOf = (text: string, asset: string) => {
  const [whole = "", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(decimals[asset] as number, "0"));
};
const lists = (list: readonly string[] | undefined, item: string) =>
  list === undefined || list.indexOf(item) !== -1;
const hasId = (prefix: string, list: readonly string[] | undefined, id: string) =>
  lists(list, typeIdFromUuid(prefix, id));

function isFor({ when }: PolicyDocument["rules"][number], asked: PolicyRequest): boolean {
  const { amount, hours, destinations: kinds } = when;
  if (when.kind !== undefined && when.kind !== (asked.market === null ? "transaction" : "order"))
    return false;
  if (when.markets !== undefined && !when.markets.some((market) => market === asked.market)) return false;
  if (!lists(when.assets, asked.asset) || !lists(when.networks, asked.network)) return false;
  for (const limited of [amount, when.sum, when.count]) {
    if (limited?.asset !== undefined && limited.asset !== asked.asset) return false;
  }
  if (amount?.min !== undefined && unitsOf(amount.min, amount.asset) > asked.amount) return false;
  if (amount?.max !== undefined && unitsOf(amount.max, amount.asset) < asked.amount) return false;
  if (!hasId("wlt", when.source_wallets, asked.sourceWalletId) || !hasId("cli", when.clients, asked.clientId))
    return false;
  if (!lists(when.source_purposes, asked.sourcePurpose)) return false;
  const isListedToo = asked.destination === "listed_address" && lists(kinds, "address");
  if (!lists(kinds, asked.destination) && !isListedToo) return false;
  if (hours === undefined) return true;
  const clock = new Date(asked.requestedAtMs).toLocaleTimeString("en-GB", { timeZone: hours.time_zone });
  const within: number[] = [];
  let hour = hours.from;
  do {
    within.push(hour);
    hour = (hour + 1) % 24;
  } while (hour !== hours.to % 24);
  return within.includes(Number(clock.slice(0, 2)));
}

function isOverItsLimits(
  { when }: PolicyDocument["rules"][number],
  asked: PolicyRequest,
  history: readonly Counted[],
  nowMs: number,
): boolean {
  const within = (limit: { per: string; period_seconds: number; asset?: string }) =>
    history.filter(
      (past) =>
        nowMs - past.countedAtMs < limit.period_seconds * 1000 &&
        (limit.asset === undefined || past.asset === limit.asset) &&
        (limit.per !== "wallet" || past.sourceWalletId === asked.sourceWalletId) &&
        (limit.per !== "client" || past.clientId === asked.clientId) &&
        (limit.per !== "tenant" || past.tenantId === asked.tenantId),
    );
  if (when.sum !== undefined) {
    let total = asked.amount;
    for (const past of within(when.sum)) total += past.amount;
    if (total <= unitsOf(when.sum.above, when.sum.asset)) return false;
  }
  return when.count === undefined || within(when.count).length + 1 > when.count.above;
}

function referenceVerdict(
  document: PolicyDocument,
  asked: PolicyRequest,
  history: readonly Counted[],
  nowMs: number,
) {
  const everywhere: PolicyDocument["rules"][number] = { name: "default", when: {}, ...document.default };
  const all = [...document.rules, everywhere].filter((rule) => isFor(rule, asked));
  const needsMore = (rule: (typeof all)[number]) =>
    rule.when.sum !== undefined || rule.when.count !== undefined || rule.action === "require_approval";
  const decides = all.find((rule) => isOverItsLimits(rule, asked, history, nowMs)) ?? everywhere;
  const first = all[0] ?? everywhere;
  return {
    spot: { kind: needsMore(first) ? "later" : first.action, rule: first.name },
    final: { kind: decides.action, rule: decides.name },
  };
}

// The engine, as in the server: the windows of a batch are loaded once, and each decision adds to them.

function load(windows: readonly UsageWindow[], history: readonly Counted[], nowMs: number): UsageByWindow {
  const owner = { wallet: "sourceWalletId", client: "clientId", tenant: "tenantId" } as const;
  return new Map(
    windows.map((window) => {
      const held = history.filter(
        (past) =>
          past[owner[window.per]] === window.id &&
          (window.asset === null || window.asset === past.asset) &&
          past.countedAtMs > nowMs - window.periodSeconds * 1000,
      );
      const sum = window.asset === null ? 0n : held.reduce((total, { amount }) => total + amount, 0n);
      return [window.key, { sum, count: BigInt(held.length) }];
    }),
  );
}

function compiled(document: PolicyDocument): CompiledPolicy {
  const { policy, faults } = compilePolicy(document, world);
  if (policy === undefined) throw new Error(JSON.stringify(faults));
  return policy;
}

describe("judging", () => {
  it("decides as the naive interpreter does", async () => {
    const seen = new Map<string, number>();
    await assert(
      property(policyDocument, batches, (document, story) => {
        const policy = compiled(document);
        let history: Counted[] = [];
        let nowMs = startMs;
        for (const { afterMs, requests, cancelled } of story) {
          nowMs += afterMs;
          const windows = requests.flatMap(([asked]) => neededWindows(policy, asked));
          const usage = load(windows, history, nowMs);
          for (const [asked, hasFunds] of requests) {
            const expected = referenceVerdict(document, asked, history, nowMs);
            const spot = judge(policy, asked);
            const { verdict } = judgeWithUsage(policy, asked, usage);
            expect({ kind: spot.kind, rule: spot.rule }).toEqual(expected.spot);
            expect({ kind: verdict.kind, rule: verdict.rule }).toEqual(expected.final);
            if (spot.kind !== "later") expect(verdict).toEqual(spot);
            seen.set(`${spot.kind} ${verdict.kind}`, (seen.get(`${spot.kind} ${verdict.kind}`) ?? 0) + 1);
            if (verdict.kind === "reject" || !hasFunds) continue;
            countTransaction(policy, asked, usage);
            history.push({ ...asked, countedAtMs: nowMs });
          }
          history = history.filter((_, index) => index !== cancelled);
        }
      }),
      { numRuns: 1000 },
    );
    // Otherwise the comparison would prove little.
    for (const pair of [
      "allow allow",
      "reject reject",
      "later allow",
      "later reject",
      "later require_approval",
    ]) {
      expect(seen.get(pair), pair).toBeGreaterThan(100);
    }
  });
});
