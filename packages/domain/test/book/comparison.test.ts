import { describe, expect, it } from "vitest";
import { compareWithReference, type Tally } from "./comparison.js";
import { climates } from "./random-commands.js";

/** `npm run test:book -- --operations 1000000` sets this; the short form is part of every run of the tests. */
const operations = Number(process.env["BURSAR_BOOK_OPERATIONS"] ?? 0);
const operationsPerRun = 2000;
const shortForm = 24_000;
const timeoutMs = 60_000 + operations * 2;

describe("the order book beside a slow one that is plainly right", () => {
  it.each(climates.map((climate) => [climate.name, climate] as const))(
    "does the same in a %s market, whatever comes in whatever order",
    (_, climate) => {
      const tally: Tally = new Map();
      const runs = Math.ceil((operations || shortForm) / climates.length / operationsPerRun);
      for (let run = 0; run < runs; run++) compareWithReference(climate, run + 1, operationsPerRun, tally);
      if (operations > 0)
        process.stdout.write(`${climate.name}: ${JSON.stringify(Object.fromEntries(tally))}\n`);
      // A comparison proves nothing about what never happened in it.
      for (const what of ["trade", "rested", "amended", "requested", "self_trade", "unfilled"])
        expect(tally.get(what), what).toBeGreaterThan(10);
      for (const what of ["post_only_would_cross", "fok_not_fillable", "quote_limit", "size_not_smaller"])
        expect(tally.get(what), what).toBeGreaterThan(2);
    },
    timeoutMs,
  );
});
