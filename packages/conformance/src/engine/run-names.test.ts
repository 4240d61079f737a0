import { expect, it } from "vitest";
import { nameOf } from "./run-names.js";

it("the first name of a run is as long as any other, so that a target refuses all for their length or none", () => {
  for (const reference of [
    {},
    { maxLength: 20 },
    { characters: "digits" },
    { characters: "alphanumeric" },
  ] as const) {
    const run = { reference, runId: "0123456789" };
    const lengths = [1, 9, 10, 99, 600].map((counter) => nameOf(run, counter).length);
    expect(new Set(lengths).size).toBe(1);
  }
});
