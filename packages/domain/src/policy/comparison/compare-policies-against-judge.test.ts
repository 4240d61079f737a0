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
  tuple,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../../id/type-id.js";
import { createAssetRegistry } from "../../money/asset.js";
import { compilePolicy } from "../compile-policy.js";
import type { CompiledPolicy, CompiledRule, Verdict } from "../compiled-policy.js";
import { destinationKinds } from "../document/policy-document.js";
import { createTimeZones } from "../hour-of-day.js";
import { judgeWithUsage, neededWindows } from "../judge.js";
import { judgeWaiting, type WaitingVerdict } from "../judge-waiting.js";
import type { PolicyRequest } from "../policy-request.js";
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

const allow = { action: "allow" } as const;
const reject = { action: "reject", reason: "no" } as const;
const ask = (approvals: number, more: object = {}) =>
  ({ action: "require_approval", approvals, ...more }) as const;
const above = (limit: string) => ({
  sum: { asset: "USD", per: "client" as const, period_seconds: 3600, above: limit },
});
const day = (first: number, end: number) => ({ hours: { from: first, to: end, time_zone: "UTC" } });

// The property: what is called a tightening never has a more lenient verdict, whatever the request and the usage.

const units = integer({ min: 1, max: 12 });
const condition = record(
  {
    assets: constantFrom(["USD"], ["USD", "PTS"]),
    networks: constantFrom(["book"], ["chain"]),
    amount: oneof(
      units.map((min) => ({ asset: "USD", min: String(min) })),
      units.map((max) => ({ asset: "USD", max: String(max) })),
    ),
    destinations: constantFrom(
      ["own_wallet"],
      ["address"],
      ["listed_address"],
      ["own_wallet", "listed_address"],
    ),
    clients: constantFrom(clientIds.slice(0, 1), clientIds.slice(0, 2), clientIds.slice(1)),
    hours: constantFrom(day(6, 22).hours, day(8, 20).hours, day(22, 6).hours),
    sum: units.map((limit) => above(String(limit)).sum),
    kind: constantFrom("transaction", "order"),
  },
  { requiredKeys: [] },
);
const sparse = tuple(condition, array(boolean(), { minLength: 9, maxLength: 9 })).map(([full, kept]) =>
  Object.fromEntries(
    Object.entries(full).filter(
      // The destination of an order is a market.
      ([name], index) =>
        kept[index] && kept[index + 1] !== true && (name !== "destinations" || full.kind !== "order"),
    ),
  ),
);
const action = oneof(
  constant(allow),
  constant(reject),
  constantFrom(
    ask(1),
    ask(2),
    ask(1, { from: { clients: clientIds.slice(0, 2) } }),
    ask(1, { signed: true }),
    ask(1, { people: true }),
  ),
);
const rules = array(record({ when: sparse, does: action }), { maxLength: 4 });
const edit = oneof(
  record({ at: integer({ min: 0, max: 4 }), kind: constant("insert" as const), when: sparse, does: action }),
  record({ at: integer({ min: 0, max: 4 }), kind: constant("remove" as const) }),
  record({ at: integer({ min: 0, max: 4 }), kind: constant("act" as const), does: action }),
  record({ at: integer({ min: 0, max: 4 }), kind: constant("when" as const), when: sparse }),
);
const request = record({
  market: constantFrom(null, null, "PTS-USD"),
  tenantId: constant(uuids[0] as string),
  clientId: constantFrom(...uuids),
  asset: constantFrom("USD", "PTS"),
  amount: integer({ min: 1, max: 14 }).map(BigInt),
  network: constantFrom("book", "chain"),
  sourceWalletId: constant(uuids[0] as string),
  sourcePurpose: constant("payout" as const),
  destination: constantFrom(...destinationKinds),
  requestedAtMs: integer({ min: 0, max: 23 }).map((hour) => Date.UTC(2026, 0, 1, hour, 30)),
});

const requirementOf = (does: object) => {
  const { verdict } = compiled({ rules: [], default: does }).rules[0] as CompiledRule;
  if (verdict.kind !== "require_approval") throw new Error("it asks for nothing");
  return verdict.requirement;
};
const approvalsOf = (verdict: WaitingVerdict) =>
  verdict.kind === "reject" ? Number.POSITIVE_INFINITY : verdict.requirement.approvals;
const compiledBoth = (before: object, after: object) =>
  [JSON.stringify([before, after]), [compiled(before), compiled(after)]] as const;
const strength = ({ kind }: { kind: Verdict["kind"] }) =>
  ["allow", "require_approval", "reject"].indexOf(kind);

function isLooser(verdict: Verdict, before: Verdict): boolean {
  if (verdict.kind !== "require_approval" || before.kind !== "require_approval")
    return strength(verdict) < strength(before);
  const [is, was] = [verdict.requirement, before.requirement];
  const mayNow = is.clientIds ?? [...uuids, "anybody"];
  const couldBefore = was.clientIds ?? [...uuids, "anybody"];
  return (
    is.approvals < was.approvals ||
    mayNow.some((id) => !couldBefore.includes(id)) ||
    (was.signed === true && is.signed !== true) ||
    (was.people === true && is.people !== true)
  );
}

describe("a tightening", () => {
  it("never gives a request a more lenient verdict", async () => {
    const seen = { tightens: 0, loosens: 0, differs: 0, stopped: 0 };
    const judgedAs = requirementOf(ask(1));
    const decide = (policy: CompiledPolicy, asked: PolicyRequest, used: bigint) => {
      const usage = new Map(neededWindows(policy, asked).map(({ key }) => [key, { sum: used, count: used }]));
      return judgeWithUsage(policy, asked, usage).verdict;
    };
    await assert(
      property(
        rules,
        action,
        array(edit, { maxLength: 2 }),
        array(tuple(request, integer({ min: 0, max: 12 }).map(BigInt)), { minLength: 20, maxLength: 40 }),
        (drawn, otherwise, edits, asked) => {
          const edited = drawn.map((one) => ({ ...one }));
          for (const one of edits) {
            const target = edited[one.at];
            if (one.kind === "insert") edited.splice(one.at, 0, { when: one.when, does: one.does });
            else if (one.kind === "remove") edited.splice(one.at, 1);
            else if (target !== undefined && one.kind === "act") target.does = one.does;
            else if (target !== undefined && one.kind === "when") target.when = one.when;
          }
          const write = (list: typeof drawn) => ({
            rules: list.map(({ when, does }, index) => ({ name: `r-${index}`, when, ...does })),
            default: otherwise,
          });
          const [documents, [before, after]] = compiledBoth(write(drawn), write(edited));
          const { change } = comparePolicies(before, after);
          seen[change]++;
          if (change === "loosens") return;
          for (const [one, used] of asked) {
            const [was, is] = [decide(before, one, used), decide(after, one, used)];
            if (strength(was) !== strength(is)) seen.differs++;
            if (isLooser(is, was)) expect.fail(documents);
            for (const rule of ["r-0", "r-1", "r-2", "r-3", "forgotten"]) {
              const wait = (policy: CompiledPolicy) =>
                judgeWaiting(policy, one, { requirement: judgedAs, rule });
              const [waited, waits] = [wait(before), wait(after)];
              if (waited.kind !== waits.kind) seen.stopped++;
              const isWeaker = strength(waits) < strength(waited) || approvalsOf(waits) < approvalsOf(waited);
              // A call of `expect` takes longer than all the rest.
              if (isWeaker) expect.fail(`${rule} ${documents}`);
            }
          }
        },
      ),
      { numRuns: 3000 },
    );
    // Otherwise the property would prove little.
    expect(Math.min(seen.tightens, seen.loosens, seen.differs, seen.stopped)).toBeGreaterThan(200);
  });
});
