import type { PolicyDocument } from "@bursar/client";
import { expect, it } from "vitest";
import { countApprovers, lackingRules } from "./approvers";

it("only people who have a passkey and a role that approves can approve", () => {
  const approves = ["transactions:read", "transactions:approve"] as const;
  expect(
    countApprovers([
      { state: "active", scopes: [...approves] },
      { state: "invited", scopes: [...approves] },
      { state: "disabled", scopes: [...approves] },
      { state: "active", scopes: ["transactions:read"] },
    ]),
  ).toBe(1);
});

it("a rule lacks approvers if it requires more people than there are", () => {
  const rule = (name: string, approvals: number, people: boolean) =>
    ({ name, action: "require_approval", approvals, people }) as PolicyDocument["rules"][number];
  const document = {
    rules: [rule("two", 2, true), rule("one", 1, true), rule("programs", 5, false)],
    default: { action: "require_approval", approvals: 3, people: true },
  } as PolicyDocument;
  expect(lackingRules(document, 1)).toEqual([
    { title: "1. two", required: 2 },
    { title: "If no rule matches", required: 3 },
  ]);
  expect(lackingRules(document, 3)).toEqual([]);
  expect(lackingRules({ rules: [], default: { action: "allow" } }, 0)).toEqual([]);
});
