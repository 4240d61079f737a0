import { expect, it } from "vitest";
import { unclearNames } from "./unclear-names";

it("a wallet has its id beside its name if another one is called so, or if the name looks like an address", () => {
  const names = new Map(
    Object.entries({ a: "payroll", b: " Payroll", c: "taxes", d: "0x5290…9EE7", e: "5290aaaa…bbbb9ee7" }),
  );
  expect([...unclearNames(names)]).toEqual(["a", "b", "d", "e"]);
  expect([
    ...unclearNames(
      new Map([
        ["a", "wlt_01hw000000e008000000000001"],
        ["b", "Payroll 2026"],
      ]),
    ),
  ]).toEqual(["a"]);
});
