import { expect, it } from "vitest";
import { candidatesOf } from "./candidates";

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
