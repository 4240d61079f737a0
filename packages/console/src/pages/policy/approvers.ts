import type { Person, PolicyDocument } from "@bursar/client";

type Approver = Pick<Person, "state" | "scopes">;

interface LackingRule {
  /** As the form names it, such as `1. large`. */
  title: string;
  required: number;
}

/** How many people could approve a payment now. One who was only invited has no passkey. */
export function countApprovers(people: readonly Approver[]): number {
  return people.filter(({ state, scopes }) => state === "active" && scopes.includes("transactions:approve"))
    .length;
}

/** The rules that require approvals of more people than there are: what they apply to waits until it expires. */
export function lackingRules({ rules, default: last }: PolicyDocument, approvers: number): LackingRule[] {
  const numbered = rules.map((rule, index) => ({ ...rule, title: `${index + 1}. ${rule.name}` }));
  return [...numbered, { ...last, title: "If no rule matches" }].flatMap((rule) => {
    const { title, action, people, approvals } = rule;
    // A draft can have anything in their place.
    const isLacking = typeof approvals === "number" && approvals > approvers;
    return action === "require_approval" && people === true && isLacking
      ? [{ title, required: approvals }]
      : [];
  });
}
