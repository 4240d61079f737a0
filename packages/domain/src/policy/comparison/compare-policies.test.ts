import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../../id/type-id.js";
import { createAssetRegistry } from "../../money/asset.js";
import { compilePolicy } from "../compile-policy.js";
import { destinationKinds, type PolicyDocument } from "../document/policy-document.js";
import { createTimeZones } from "../hour-of-day.js";
import { comparePolicies } from "./compare-policies.js";

const limits = { caip19: null, network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry([
    { code: "USD", decimals: 0, ...limits },
    { code: "PTS", decimals: 0, ...limits },
  ]),
  networks: new Set(["book", "chain"]),
  markets: new Set(["PTS-USD"]),
  timeZones: createTimeZones(),
};
const uuids = [1, 2, 3].map((number) => `018f0000-0000-7000-8000-00000000000${number}`);
const clientIds = uuids.map((id) => typeIdFromUuid("cli", id));
const compiled = (document: unknown) => {
  const { policy, faults } = compilePolicy(document, world);
  if (policy === undefined) throw new Error(JSON.stringify(faults));
  return policy;
};

type Rule = PolicyDocument["rules"][number];
const allow = { action: "allow" } as const;
const reject = { action: "reject", reason: "no" } as const;
const ask = (approvals: number, more: object = {}) =>
  ({ action: "require_approval", approvals, ...more }) as const;
const rule = (name: string, when: Rule["when"], does: object) => ({ name, when, ...does }) as Rule;
const own = { destinations: ["own_wallet" as const] };
const upTo = (max: string) => ({ amount: { asset: "USD", max } });
const from = (min: string) => ({ amount: { asset: "USD", min } });
const above = (limit: string) => ({
  sum: { asset: "USD", per: "client" as const, period_seconds: 3600, above: limit },
});
const day = (first: number, end: number) => ({ hours: { from: first, to: end, time_zone: "UTC" } });
const changes = { approvals: 1, from: { clients: clientIds.slice(0, 2) } };

type Sketch = [rules: Rule[], otherwise: PolicyDocument["default"], more?: object];
const table: [what: string, change: "tightens" | "loosens", before: Sketch, after: Sketch][] = [
  ["the same policy", "tightens", [[rule("a", own, allow)], reject], [[rule("a", own, allow)], reject]],
  [
    "another name of a rule",
    "tightens",
    [[rule("a", own, allow)], reject],
    [[rule("b", own, allow)], reject],
  ],
  [
    "another name of a rule with a limit, which waiting transactions no longer find",
    "loosens",
    [[rule("a", above("5"), reject)], allow],
    [[rule("b", above("5"), reject)], allow],
  ],
  [
    "its name for a rule behind one that allows what waits",
    "loosens",
    [[rule("a", above("5"), reject)], allow],
    [[rule("b", above("5"), reject), rule("c", {}, allow), rule("a", above("5"), reject)], allow],
  ],
  [
    "a rule with the name of one that waiting transactions remember",
    "loosens",
    [[rule("a", above("5"), reject)], ask(3)],
    [[rule("a", above("5"), reject), rule("b", above("5"), allow)], ask(3)],
  ],
  [
    "a rule without a limit instead of one with it",
    "tightens",
    [[rule("a", above("5"), reject)], allow],
    [[rule("b", own, reject)], reject],
  ],
  [
    "the order of rules with limits",
    "tightens",
    [[rule("a", { ...own, ...above("5") }, reject), rule("b", above("5"), reject)], allow],
    [[rule("b", above("5"), reject), rule("a", { ...own, ...above("5") }, reject)], allow],
  ],
  ["an allowing rule less", "tightens", [[rule("a", own, allow)], reject], [[], reject]],
  ["an allowing rule more", "loosens", [[], reject], [[rule("a", own, allow)], reject]],
  ["a rejecting rule more", "tightens", [[], allow], [[rule("a", own, reject)], allow]],
  ["a rejecting rule less", "loosens", [[rule("a", own, reject)], allow], [[], allow]],
  ["an approval more", "tightens", [[], ask(1)], [[], ask(2)]],
  ["an approval less", "loosens", [[], ask(2)], [[], ask(1)]],
  ["approval instead of allowing", "tightens", [[], allow], [[], ask(1)]],
  ["approval instead of rejecting", "loosens", [[], reject], [[], ask(1)]],
  ["allowing instead of approval", "loosens", [[], ask(1)], [[], allow]],
  [
    "fewer approvers, who could reject less",
    "loosens",
    [[], ask(1)],
    [[], ask(1, { from: { clients: clientIds } })],
  ],
  [
    "another approver",
    "loosens",
    [[], ask(1, { from: { clients: clientIds.slice(0, 1) } })],
    [[], ask(1, { from: { clients: clientIds.slice(0, 2) } })],
  ],
  ["anybody as approver", "loosens", [[], ask(1, { from: { clients: clientIds } })], [[], ask(1)]],
  [
    "another member of a group",
    "loosens",
    [[], ask(1, { from: { groups: ["g"] } }), { groups: { g: clientIds.slice(0, 1) } }],
    [[], ask(1, { from: { groups: ["g"] } }), { groups: { g: clientIds } }],
  ],
  ["more time to approve", "loosens", [[], ask(1)], [[], ask(1, { expires_after_seconds: 100_000 })]],
  ["signed approvals", "tightens", [[], ask(1)], [[], ask(1, { signed: true })]],
  ["unsigned approvals", "loosens", [[], ask(1, { signed: true })], [[], ask(1)]],
  ["approvals by people", "tightens", [[], ask(1)], [[], ask(1, { people: true })]],
  ["approvals by programs", "loosens", [[], ask(1, { people: true })], [[], ask(1)]],
  [
    "a lower bound of what is allowed",
    "tightens",
    [[rule("a", upTo("9"), allow)], reject],
    [[rule("a", upTo("8"), allow)], reject],
  ],
  [
    "a higher bound of what is allowed",
    "loosens",
    [[rule("a", upTo("9"), allow)], reject],
    [[rule("a", upTo("10"), allow)], reject],
  ],
  [
    "a lower bound of what is rejected",
    "tightens",
    [[rule("a", from("9"), reject)], allow],
    [[rule("a", from("8"), reject)], allow],
  ],
  [
    "a higher bound of what is rejected",
    "loosens",
    [[rule("a", from("9"), reject)], allow],
    [[rule("a", from("10"), reject)], allow],
  ],
  [
    "a lower sum",
    "tightens",
    [[rule("a", above("9"), reject)], allow],
    [[rule("a", above("8"), reject)], allow],
  ],
  [
    "a higher sum",
    "loosens",
    [[rule("a", above("9"), reject)], allow],
    [[rule("a", above("10"), reject)], allow],
  ],
  [
    "fewer hours",
    "tightens",
    [[rule("a", day(6, 22), allow)], reject],
    [[rule("a", day(8, 20), allow)], reject],
  ],
  [
    "other hours",
    "loosens",
    [[rule("a", day(6, 22), allow)], reject],
    [[rule("a", day(5, 20), allow)], reject],
  ],
  [
    "a listed address instead of any",
    "tightens",
    [[rule("a", { destinations: ["address"] }, allow)], reject],
    [[rule("a", { destinations: ["listed_address"] }, allow)], reject],
  ],
  [
    "any address instead of a listed one",
    "loosens",
    [[rule("a", { destinations: ["listed_address"] }, allow)], reject],
    [[rule("a", { destinations: ["address"] }, allow)], reject],
  ],
  [
    "orders as well",
    "loosens",
    [[rule("a", { kind: "transaction" }, allow)], reject],
    [[rule("a", {}, allow)], reject],
  ],
  [
    "an order of rules in which a limit comes too late",
    "loosens",
    [[rule("a", from("9"), reject), rule("b", own, allow)], reject],
    [[rule("b", own, allow), rule("a", from("9"), reject)], reject],
  ],
  [
    "an order of rules that exclude each other",
    "tightens",
    [[rule("a", from("9"), ask(1)), rule("b", upTo("8"), allow)], reject],
    [[rule("b", upTo("8"), allow), rule("a", from("9"), ask(1))], reject],
  ],
  ["approvers of changes", "tightens", [[], reject], [[], reject, { changes }]],
  ["no approvers of changes", "loosens", [[], reject, { changes }], [[], reject]],
  [
    "other approvers of changes",
    "loosens",
    [[], reject, { changes }],
    [[], reject, { changes: { ...changes, from: { clients: clientIds.slice(0, 1) } } }],
  ],
  [
    "more approvals of changes, which could lock everybody out",
    "loosens",
    [[], reject, { changes }],
    [[], reject, { changes: { ...changes, approvals: 2 } }],
  ],
];

describe("comparing policies", () => {
  const build = ([rules, otherwise, more]: Sketch) => compiled({ rules, default: otherwise, ...more });
  it.each(table)("%s %s", (_what, change, before, after) => {
    expect(comparePolicies(build(before), build(after)).change).toBe(change);
  });

  it("names the rules", () => {
    const [before, after] = [build([[rule("small", upTo("9"), allow)], reject]), build([[], allow])];
    expect(comparePolicies(before, after)).toEqual({
      change: "loosens",
      reasons: ["default (allow) can decide requests that default (reject) decides now"],
    });
  });

  it("compares policies of the largest size", () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      rule(`r-${index}`, { amount: { asset: "USD", min: String(500 - index) } }, index % 2 ? reject : allow),
    );
    const without = many.filter((_, index) => index !== 101);
    expect(comparePolicies(build([many, reject]), build([many, reject])).change).toBe("tightens");
    expect(comparePolicies(build([many, reject]), build([without, reject])).change).toBe("loosens");
  });

  it("calls policies that take too long to compare a loosening", () => {
    // Each rule overlaps with all others and is contained in none, and the time zones cannot be compared.
    const zones = ["UTC", "Asia/Tokyo", "Europe/Berlin"];
    const many = (later: number) =>
      Array.from({ length: 200 }, (_, index) =>
        rule(
          `r-${index}`,
          {
            amount: { asset: "USD", min: String(1 + index), max: String(100_000 - 3 * index + later) },
            hours: { from: index % 20, to: (index % 20) + 3, time_zone: zones[index % 3] as string },
            destinations: [...destinationKinds].filter((kind) => kind !== "market"),
          },
          ask(1 + (index % 2), { from: { clients: clientIds.filter((_id, one) => one !== index % 3) } }),
        ),
      );
    const compared = comparePolicies(build([many(1), reject]), build([many(0), reject]));
    expect(compared).toMatchObject({ change: "loosens", reasons: [expect.anything()] });
    expect(comparePolicies(build([many(0), reject]), build([many(0), reject])).change).toBe("tightens");
  });
});
