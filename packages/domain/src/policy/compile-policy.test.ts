import { anything, assert, constantFrom, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../id/type-id.js";
import { createAssetRegistry } from "../money/asset.js";
import { compilePolicy } from "./compile-policy.js";
import { defaultPolicy } from "./document/default-policy.js";
import { createTimeZones } from "./hour-of-day.js";

const asset = { network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry([
    { code: "USD", caip19: null, decimals: 2, ...asset },
    { code: "ETH", caip19: "eip155:1/slip44:60", decimals: 18, ...asset },
  ]),
  networks: new Set(["book"]),
  markets: new Set(["ETH-USD"]),
  timeZones: createTimeZones(),
};
const uuid = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, "0")}`;
const client = (number: number) => typeIdFromUuid("cli", uuid(number));
const wallet = (number: number) => typeIdFromUuid("wlt", uuid(number));

const withRule = (rule: object, more: object = {}) => ({
  rules: [{ name: "it", when: {}, action: "allow", ...rule }],
  default: { action: "allow" },
  ...more,
});
const faultsOf = (document: unknown) =>
  (compilePolicy(document, world).faults ?? []).map(({ rule, field, reason }) => [rule, field, reason]);

describe("a policy document", () => {
  it("of a new tenant compiles and needs no usage", () => {
    expect(compilePolicy(defaultPolicy, world)).toMatchObject({ policy: { windows: [] }, references: [] });
  });

  it("with every field compiles, and lists the wallets and clients that it names", () => {
    const document = {
      groups: { officers: [client(1), client(2)], constructor: [client(3)] },
      rules: [
        {
          name: "all",
          when: {
            kind: "transaction",
            assets: ["eip155:1/slip44:60"],
            networks: ["book"],
            amount: { asset: "ETH", min: "0.000000000000000001", max: "5" },
            source_wallets: [wallet(1)],
            source_purposes: ["payout"],
            destinations: ["address"],
            clients: [client(9)],
            hours: { from: 22, to: 6, time_zone: "Europe/Berlin" },
            sum: { asset: "ETH", per: "wallet", period_seconds: 60, above: "1.5" },
            count: { per: "tenant", period_seconds: 7_776_000, above: 3 },
          },
          action: "require_approval",
          approvals: 3,
          from: { clients: [client(1)], groups: ["officers", "constructor"] },
          expires_after_seconds: 60,
        },
      ],
      default: { action: "reject", reason: "no" },
    };
    const { policy, references, faults } = compilePolicy(document, world);
    expect(faults).toBeUndefined();
    expect(policy?.rulesByAsset.get("ETH")?.[0]?.verdict).toEqual({
      kind: "require_approval",
      rule: "all",
      requirement: { approvals: 3, clientIds: [uuid(1), uuid(2), uuid(3)], expiresAfterSeconds: 60 },
    });
    expect(references?.map(({ kind, id, rule, field }) => [kind, id, rule, field])).toEqual([
      ["client", uuid(1), null, "groups.officers.0"],
      ["client", uuid(2), null, "groups.officers.1"],
      ["client", uuid(3), null, "groups.constructor.0"],
      ["wallet", uuid(1), "all", "rules.0.when.source_wallets.0"],
      ["client", uuid(9), "all", "rules.0.when.clients.0"],
      ["client", uuid(1), "all", "rules.0.from.clients.0"],
    ]);
  });

  const usdSum = { asset: "USD", per: "client", period_seconds: 60, above: "1" };
  const hours = { from: 9, to: 17, time_zone: "UTC" };
  it.each([
    [{ name: "It" }, null, "name", "1 to 64 characters"],
    [{ name: "default" }, "default", "name", "name of the default"],
    [{ name: 7 }, null, "name", "1 to 64 characters"],
    [{ when: 7 }, "it", "when", "must be an object"],
    [{ when: { colour: "red" } }, "it", "when.colour", "not a known field"],
    [{ when: { assets: ["DOGE"] } }, "it", "when.assets.0", "not a known asset"],
    [{ when: { assets: [] } }, "it", "when.assets", "1 to 100 items"],
    [{ when: { assets: ["USD", "USD"] } }, "it", "when.assets.1", "listed twice"],
    [{ when: { networks: ["moon"] } }, "it", "when.networks.0", "not a known network"],
    [{ when: { amount: { asset: "USD" } } }, "it", "when.amount", "needs min, max or both"],
    [{ when: { amount: { min: "1" } } }, "it", "when.amount.asset", "is required"],
    [{ when: { amount: { asset: "USD", min: "0.001" } } }, "it", "when.amount.min", "2 decimals of USD"],
    [{ when: { amount: { asset: "USD", min: "1e3" } } }, "it", "when.amount.min", "a decimal number"],
    [{ when: { amount: { asset: "USD", min: 5 } } }, "it", "when.amount.min", "must be a string"],
    [{ when: { amount: { asset: "USD", max: "0" } } }, "it", "when.amount.max", "more than zero"],
    [{ when: { amount: { asset: "USD", min: "2", max: "1.99" } } }, "it", "when.amount", "min above its max"],
    [{ when: { assets: ["ETH"], amount: { asset: "USD", min: "1" } } }, "it", "when", "can never match"],
    [{ when: { sum: usdSum, amount: { asset: "ETH", min: "1" } } }, "it", "when", "can never match"],
    [{ when: { kind: "swap" } }, "it", "when.kind", "must be one of transaction, order"],
    [{ when: { markets: ["ETH-EUR"] } }, "it", "when.markets.0", "is not a known market"],
    [{ when: { kind: "transaction", markets: ["ETH-USD"] } }, "it", "when", "a transaction has no market"],
    [{ when: { kind: "order", destinations: ["own_wallet"] } }, "it", "when", "order is market"],
    [{ when: { kind: "transaction", destinations: ["market"] } }, "it", "when", "only an order has"],
    [{ when: { source_wallets: [client(1)] } }, "it", "when.source_wallets.0", "begins with wlt_"],
    [{ when: { source_purposes: ["fun"] } }, "it", "when.source_purposes.0", "must be one of treasury"],
    [{ when: { destinations: ["mars"] } }, "it", "when.destinations.0", "must be one of own_wallet"],
    [{ when: { clients: [wallet(1)] } }, "it", "when.clients.0", "begins with cli_"],
    [{ when: { hours: { ...hours, from: 24 } } }, "it", "when.hours.from", "from 0 to 23"],
    [{ when: { hours: { ...hours, to: 25 } } }, "it", "when.hours.to", "from 0 to 24"],
    [{ when: { hours: { ...hours, to: 9.5 } } }, "it", "when.hours.to", "whole number"],
    [{ when: { hours: { ...hours, to: 9 } } }, "it", "when.hours", "is empty"],
    [{ when: { hours: { ...hours, time_zone: "Mars/Base" } } }, "it", "when.hours.time_zone", "time zone"],
    [{ when: { sum: { ...usdSum, above: "0" } } }, "it", "when.sum.above", "more than zero"],
    [{ when: { sum: { ...usdSum, per: "moon" } } }, "it", "when.sum.per", "must be one of wallet"],
    [{ when: { sum: { ...usdSum, period_seconds: 59 } } }, "it", "when.sum.period_seconds", "from 60 to"],
    [
      { when: { count: { per: "tenant", period_seconds: 7_776_001, above: 1 } } },
      "it",
      "when.count.period_seconds",
      "to 7776000",
    ],
    [
      { when: { count: { per: "tenant", period_seconds: 60, above: 0 } } },
      "it",
      "when.count.above",
      "from 1",
    ],
    [{ action: "shrug" }, "it", "action", "must be one of allow"],
    [{ action: "reject" }, "it", "reason", "is required"],
    [{ action: "reject", reason: "x".repeat(257) }, "it", "reason", "1 to 256"],
    [{ action: "allow", reason: "x" }, "it", "reason", "not a known field"],
    [{ action: "require_approval" }, "it", "approvals", "is required"],
    [{ action: "require_approval", approvals: 11 }, "it", "approvals", "from 1 to 10"],
    [{ action: "require_approval", approvals: 1, from: {} }, "it", "from", "needs clients, groups"],
    [{ action: "require_approval", approvals: 1, from: { groups: ["x"] } }, "it", "from.groups.0", "a group"],
    [
      { action: "require_approval", approvals: 1, expires_after_seconds: 2_592_001 },
      "it",
      "expires_after_seconds",
      "to 2592000",
    ],
    [
      { action: "require_approval", approvals: 2, from: { clients: [client(1)] } },
      "it",
      "approvals",
      "more than the 1",
    ],
    [
      {
        when: { clients: [client(1)] },
        action: "require_approval",
        approvals: 2,
        from: { clients: [client(1), client(2)] },
      },
      "it",
      "approvals",
      "is also an approver",
    ],
  ])("is refused with %j", (rule, name, field, reason) => {
    expect(faultsOf(withRule(rule))).toEqual([[name, `rules.0.${field}`, expect.stringContaining(reason)]]);
  });

  it("reports all of its faults together, each of them once", () => {
    const document = {
      groups: { "Big Ones": [client(1)], officers: ["nobody"] },
      rules: [
        { name: "a", when: { assets: ["DOGE"] }, action: "reject" },
        { name: "a", when: {}, action: "require_approval", approvals: 1, from: { groups: ["officers"] } },
        { when: {}, action: "allow" },
        17,
      ],
      default: {},
      more: 1,
    };
    expect(faultsOf(document).map(([rule, field]) => `${rule} ${field}`)).toEqual([
      "null more",
      "null groups.Big Ones",
      "null groups.officers.0",
      "a rules.0.reason",
      "a rules.0.when.assets.0",
      "a rules.1.name",
      "null rules.2.name",
      "null rules.3",
      "null default.action",
    ]);
  });

  it("has a limited number of rules, groups and items", () => {
    const rules = Array.from({ length: 201 }, (_, index) => ({
      name: `r-${index}`,
      when: {},
      action: "allow",
    }));
    const groups = Object.fromEntries(rules.slice(0, 21).map(({ name }) => [name, [client(1)]]));
    const clients = Array.from({ length: 101 }, (_, index) => client(index));
    expect(faultsOf({ ...withRule({}), rules: rules.slice(0, 200) })).toEqual([]);
    expect(faultsOf({ ...withRule({}), rules })).toMatchObject([[null, "rules", expect.any(String)]]);
    expect(faultsOf(withRule({}, { groups }))).toMatchObject([[null, "groups", expect.any(String)]]);
    expect(faultsOf(withRule({ when: { clients } }))).toMatchObject([
      ["it", "rules.0.when.clients", expect.any(String)],
    ]);
  });
});

describe("a hostile document", () => {
  const long = "a".repeat(100_000);
  const deep = JSON.parse(`${'{"when":'.repeat(5000)}1${"}".repeat(5000)}`);
  const manyKeys = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, index]));
  const valid = {
    action: "require_approval",
    approvals: 1,
    from: { clients: [client(1)] },
    when: {
      assets: ["USD"],
      hours: { from: 1, to: 2, time_zone: "UTC" },
      amount: { asset: "USD", min: "1" },
    },
  };
  const proto = JSON.parse('{"__proto__": {"action": "allow"}, "constructor": 1, "toString": 2}');
  const junk = [
    long,
    deep,
    manyKeys,
    proto,
    [long, long],
    Array(100_000).fill(long),
    null,
    true,
    1e308,
    -0,
    "",
    [],
    {},
  ];

  it("is refused with a bounded number of short messages", () => {
    for (const document of [...junk, ...junk.map((rules) => ({ rules, default: rules, groups: rules }))]) {
      const faults = faultsOf(document);
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.length).toBeLessThanOrEqual(100);
      expect(JSON.stringify(faults).length).toBeLessThan(30_000);
    }
  });

  it("never throws, even if any part of it is replaced by any value", () => {
    const paths = pathsOf(valid);
    expect(paths.length).toBeGreaterThan(10);
    return assert(
      property(constantFrom(...paths), anything({ maxDepth: 2 }), jsonValue(), (path, odd, json) => {
        for (const value of [...junk, odd, json]) faultsOf(withRule(replaceAt(valid, path, value)));
      }),
      { numRuns: 30 },
    );
  });

  it("cannot add fields through its prototype", () => {
    expect(
      faultsOf(JSON.parse('{"rules": [], "default": {"__proto__": {"action": "allow"}}}')),
    ).toMatchObject([
      [null, "default.action", expect.any(String)],
      [null, "default.__proto__", "is not a known field"],
    ]);
  });

  it("cannot fill the response with very long group names", () => {
    expect(JSON.stringify(faultsOf(withRule({}, { groups: { [long]: [client(1)] } }))).length).toBeLessThan(
      300,
    );
  });
});

/** The path of every value inside a value. */
function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [key],
    ...pathsOf(member).map((path) => [key, ...path]),
  ]);
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], replacement: unknown): object {
  const copy: Record<string, unknown> = Array.isArray(value)
    ? ([...value] as never)
    : { ...(value as object) };
  if (key !== undefined)
    copy[key] = rest.length === 0 ? replacement : replaceAt(copy[key], rest, replacement);
  return copy;
}
