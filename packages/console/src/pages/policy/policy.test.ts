import { describe, expect, it } from "vitest";
import { diffLines, withContext } from "./diff-lines";
import { canonical, changeAt, isSameDocument, readAt, writeDocument } from "./document";
import { actionFields, conditionFields, durationNote, orderNoteOf } from "./rule-fields";

const joined = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${kind[0]}${text}`);

describe("the difference of two documents", () => {
  it("keeps what is common, and shows what was removed before what was added", () => {
    expect(joined("a\nb\nc\nd", "a\nx\nc\nd\ne")).toEqual(["sa", "rb", "ax", "sc", "sd", "ae"]);
    expect(joined("a", "a")).toEqual(["sa"]);
  });

  it("leaves out lines that are far from a change", () => {
    const lines = diffLines("1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\n5\n6\n8");
    expect(withContext(lines, 1).map((line) => line?.text ?? null)).toEqual([null, "6", "7", "8"]);
  });
});

it("two documents whose members have another order are the same, and their rules have an order", () => {
  const one = { rules: [{ name: "a", when: { kind: "order", assets: ["USD", "ETH"] } }, { name: "b" }] };
  const other = { rules: [{ when: { assets: ["USD", "ETH"], kind: "order" }, name: "a" }, { name: "b" }] };
  expect(isSameDocument(one, other)).toBe(true);
  expect(writeDocument(canonical(one))).toBe(writeDocument(canonical(other)));
  expect(isSameDocument(one, { rules: one.rules.toReversed() })).toBe(false);
});

describe("a change of a document by a form", () => {
  const document = { rules: [{ name: "a", when: { assets: ["USD"] } }], default: { action: "allow" } };

  it("sets one member and leaves the others", () => {
    const changed = changeAt(document, ["rules", 0, "when", "amount", "min"], "5");
    expect(changed).toEqual({
      ...document,
      rules: [{ name: "a", when: { assets: ["USD"], amount: { min: "5" } } }],
    });
    expect(readAt(changed, ["rules", 0, "when", "amount", "min"])).toBe("5");
    expect(document.rules[0]?.when).toEqual({ assets: ["USD"] });
  });

  it("removes a member without a value, and the object that has none left", () => {
    expect(changeAt(document, ["rules", 0, "when", "assets"], undefined)).toEqual({
      ...document,
      rules: [{ name: "a", when: {} }],
    });
    const limited = changeAt(document, ["rules", 0, "when", "amount", "min"], "5");
    expect(changeAt(limited, ["rules", 0, "when", "amount", "min"], undefined)).toEqual(document);
  });

  it("does not reach into what every object inherits", () => {
    expect(readAt({}, ["constructor", "name"])).toBeUndefined();
  });
});

it("a rule says that it does not cover orders, or refuses those that would wait", () => {
  const noteOf = (action: string, kind?: string) => orderNoteOf({ action, when: { kind } });
  for (const action of ["allow", "reject", "require_approval"])
    expect(noteOf(action, "transaction")).toContain("Orders are not covered");
  for (const kind of ["order", undefined]) {
    expect(noteOf("require_approval", kind)).toContain("An order cannot wait for approval");
    expect([noteOf("allow", kind), noteOf("reject", kind)]).toEqual([undefined, undefined]);
  }
  // The default has no conditions.
  expect(orderNoteOf({ action: "require_approval" })).toContain("An order cannot wait");
});

it("seconds are also written in larger units, and nothing else is", () => {
  const fields = [...conditionFields, ...actionFields("require_approval")];
  const noteOf = (name: string, value: unknown) => {
    const field = fields.find(({ path }) => path.join(".") === name);
    return field && durationNote(field, value);
  };
  expect(noteOf("expires_after_seconds", 5400)).toBe("5400 seconds are 1 h 30 min");
  expect(noteOf("when.sum.period_seconds", 86_400)).toBe("86400 seconds are 1 d");
  for (const typed of [undefined, "", "1h", 0, -1, 1.5])
    expect(noteOf("when.count.period_seconds", typed)).toBeUndefined();
  expect(noteOf("when.count.above", 5400)).toBeUndefined();
});
