import { describe, expect, it } from "vitest";
import { compareWithReference, type Tally } from "./comparison.js";
import { climates } from "./random-commands.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const operations = Number(process.env["BURSAR_BOOK_OPERATIONS"]);
const isLong = process.env["BURSAR_PROOF_FORM"] === "long";
const operationsPerRun = 2000;
const timeoutMs = 300_000 + operations * 2;

describe("the fast book and the reference book", () => {
  it.each(climates.map((climate) => [climate.name, climate] as const))(
    "do the same in a %s market with random commands",
    (_, climate) => {
      const tally: Tally = new Map();
      const runs = Math.ceil(operations / climates.length / operationsPerRun);
      for (let run = 0; run < runs; run++) compareWithReference(climate, run + 1, operationsPerRun, tally);
      if (isLong) process.stdout.write(`${climate.name}: ${JSON.stringify(Object.fromEntries(tally))}\n`);
      // A comparison proves nothing about what never happened in it.
      for (const what of ["trade", "rested", "amended", "requested", "self_trade", "unfilled"])
        expect(tally.get(what), what).toBeGreaterThan(10);
      for (const what of ["post_only_would_cross", "fok_not_fillable", "quote_limit", "size_not_smaller"])
        expect(tally.get(what), what).toBeGreaterThan(2);
    },
    timeoutMs,
  );
});
