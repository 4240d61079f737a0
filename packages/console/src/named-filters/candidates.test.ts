import { expect, it } from "vitest";
import { candidatesOf, onlyCandidate } from "./candidates";

it("a person is found by the whole name, or else by a part of the name or address", () => {
  const known = [
    { id: "cli_1", name: "Grace", all: "Grace\ngrace@firm.example" },
    { id: "cli_2", name: "Grace Hopper", all: "Grace Hopper\nhopper@firm.example" },
    { id: "cli_1", name: "Grace", all: "Grace" },
  ];
  const found = (typed: string) => candidatesOf(typed, known).found.map(({ id }) => id);
  expect([found("grace"), found("HOPPER@"), found("rac"), found("Bob")]).toEqual([
    ["cli_1"],
    ["cli_2"],
    ["cli_1", "cli_2"],
    [],
  ]);
  expect(["grace", "rac"].map((typed) => candidatesOf(typed, known).isExact)).toEqual([true, false]);
});

it("a name is taken without a question only if it is whole, is that of one, and all names are known", () => {
  const named = (id: string, name: string) => ({ id, name, all: name });
  const known = [named("wlt_1", "Parent"), named("wlt_2", "Payroll"), named("wlt_3", "payroll")];
  const only = (typed: string, isWhole = true) => onlyCandidate(candidatesOf(typed, known), isWhole)?.id;
  expect([only("parent"), only("rent"), only("payroll")]).toEqual(["wlt_1", undefined, undefined]);
  expect(only("parent", false)).toBeUndefined();
});
