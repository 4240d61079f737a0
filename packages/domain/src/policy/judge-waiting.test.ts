import { describe, expect, it } from "vitest";
import { typeIdFromUuid } from "../id/type-id.js";
import { createAssetRegistry } from "../money/asset.js";
import { compilePolicy } from "./compile-policy.js";
import type { PolicyDocument } from "./document/policy-document.js";
import { createTimeZones } from "./hour-of-day.js";
import { judgeWaiting } from "./judge-waiting.js";
import type { PolicyRequest } from "./policy-request.js";

const usd = { code: "USD", decimals: 2, caip19: null, network: "book", minimum: 1n, maximum: 10n ** 60n };
const world = {
  assets: createAssetRegistry([usd]),
  networks: new Set(["book"]),
  markets: new Set<string>(),
  timeZones: createTimeZones(),
};
const uuid = (last: number) => `018f0000-0000-7000-8000-00000000000${last}`;
const [anna, ben, cora] = [uuid(1), uuid(2), uuid(3)];
const show = (...ids: string[]) => ids.map((id) => typeIdFromUuid("cli", id));
const request: PolicyRequest = {
  market: null,
  tenantId: uuid(9),
  clientId: uuid(8),
  asset: "USD",
  amount: 15_000n,
  network: "book",
  sourceWalletId: uuid(7),
  sourcePurpose: "treasury",
  destination: "own_wallet",
  requestedAtMs: Date.UTC(2026, 0, 1),
};

type Rule = PolicyDocument["rules"][number];
const allow = { action: "allow" } as const;
const no = { action: "reject", reason: "No." } as const;
const large = { amount: { asset: "USD", min: "100" } };
const daily = { sum: { asset: "USD", per: "tenant", period_seconds: 86_400, above: "1000" } } as const;
const need = (approvals: number, clients: string[] | null, more: object = {}) => ({
  action: "require_approval" as const,
  approvals,
  ...(clients === null ? {} : { from: { clients: show(...clients) } }),
  ...more,
});
const waiting = { approvals: 1, clientIds: [anna, ben], expiresAfterSeconds: 3600 };

function judgeAgain(rules: Rule[], last: PolicyDocument["default"] = allow, requirement: object = {}) {
  const { policy, faults } = compilePolicy({ rules, default: last }, world);
  if (policy === undefined) throw new Error(JSON.stringify(faults));
  const judged = { rule: "officers", requirement: { ...waiting, ...requirement } };
  const verdict = judgeWaiting(policy, request, judged);
  return verdict.kind === "reject" ? verdict.rule : verdict.requirement;
}

describe("a transaction that waits for approval, judged by a later policy,", () => {
  it.each<[string, Rule[], PolicyDocument["default"], unknown]>([
    ["is rejected by a rule", [{ name: "stop", when: large, ...no }], allow, "stop"],
    ["is rejected by the default", [], no, "default"],
    ["keeps what it requires if it would be allowed", [], allow, waiting],
    [
      "needs the larger number of approvals",
      [{ name: "officers", when: large, ...need(2, null) }],
      no,
      { ...waiting, approvals: 2, expiresAfterSeconds: 3600 },
    ],
    [
      "can be approved only by clients that both policies name",
      [{ name: "officers", when: large, ...need(1, [ben, cora]) }],
      no,
      { ...waiting, clientIds: [ben] },
    ],
    [
      "can be approved by nobody if the policies name different clients",
      [{ name: "directors", when: large, ...need(1, [cora]) }],
      no,
      { ...waiting, clientIds: [] },
    ],
    [
      "needs signatures, people and the shorter time if the later policy says so",
      [
        {
          ...{ name: "officers", when: large },
          ...need(1, null, { signed: true, people: true, expires_after_seconds: 60 }),
        },
      ],
      no,
      { ...waiting, signed: true, people: true, expiresAfterSeconds: 60 },
    ],
    [
      "keeps the shorter time of before",
      [{ name: "officers", when: large, ...need(1, null, { expires_after_seconds: 86_400 }) }],
      no,
      waiting,
    ],
    [
      "is not rejected by a sum, which includes it already",
      [{ name: "limit", when: daily, ...no }],
      allow,
      waiting,
    ],
    [
      "is rejected by the rule that required its approvals, also if that tests a sum",
      [{ name: "officers", when: daily, ...no }],
      allow,
      "officers",
    ],
    [
      "needs what the rule with a sum says that required its approvals, although the rest is rejected",
      [{ name: "officers", when: daily, ...need(2, [ben, cora]) }],
      no,
      { ...waiting, approvals: 2, clientIds: [ben] },
    ],
    [
      "can be approved only by clients that another rule with a sum names, which might apply",
      [{ name: "renamed", when: daily, ...need(2, [ben, cora]) }],
      allow,
      { ...waiting, clientIds: [ben] },
    ],
    [
      "can be approved by clients of a rule that applies, and not by those of one with a sum that might not",
      [
        { name: "renamed", when: daily, ...need(1, [anna]) },
        { name: "large", when: large, ...need(2, [ben, cora]) },
      ],
      no,
      { ...waiting, approvals: 2, clientIds: [ben] },
    ],
    [
      "can be approved only by clients that both of these rules name",
      [
        { name: "renamed", when: daily, ...need(1, [anna]) },
        { name: "large", when: large, ...need(1, [anna, ben]) },
      ],
      no,
      { ...waiting, clientIds: [anna] },
    ],
  ])("%s", (_, rules, last, expected) => expect(judgeAgain(rules, last)).toEqual(expected));

  it("keeps the clients of the later policy if any client could approve before", () => {
    const rules = [{ name: "officers", when: large, ...need(1, [cora]) }];
    expect(judgeAgain(rules, no, { clientIds: null })).toMatchObject({ clientIds: [cora] });
  });
});
