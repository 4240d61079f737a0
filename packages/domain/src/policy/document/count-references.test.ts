import { describe, expect, it } from "vitest";
import { countReferences } from "./count-references.js";

const ids = (count: number) => Array.from({ length: count }, (_, number) => `cli_${number}`);

describe("the references of a policy", () => {
  it("are the items of all conditions, groups and approvers", () => {
    const document = {
      groups: { officers: ids(3) },
      rules: [
        { name: "a", when: { clients: ids(5), assets: ["USD"], amount: { asset: "USD", min: "1" } } },
        { name: "b", when: { source_wallets: ids(7) }, from: { clients: ids(2) } },
      ],
      default: { action: "allow" },
    };
    expect(countReferences(document)).toBe(3 + 5 + 1 + 7 + 2);
  });

  it("include the members of a group for every rule, and for the default, that names it", () => {
    const from = { groups: ["officers"] };
    const document = { groups: { officers: ids(10) }, rules: [{ from }, { from }], default: { from } };
    expect(countReferences(document)).toBe(10 + 3 * 11);
  });

  it.each([
    null,
    "text",
    [],
    { rules: 5, groups: [], default: null },
    { rules: [null, { when: [], from: 1 }], groups: { a: 1 }, default: { from: { groups: [{}, null] } } },
  ])("can be counted in %j", (document) => {
    expect(countReferences(document)).toBeLessThanOrEqual(2);
  });
});
