import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FeeTerms } from "../../../app/chain/chain-node.js";
import { marketFees } from "./market-fees.js";
import { raiseFees, raiseLeast } from "./raise-fees.js";

const gwei = 10n ** 9n;
const terms = fc
  .tuple(fc.bigInt(0n, 5000n * gwei), fc.bigInt(0n, 5000n * gwei))
  .map(([a, b]): FeeTerms => ({ maxFeePerGas: a > b ? a : b, maxPriorityFeePerGas: a > b ? b : a }));
const cap = fc.bigInt(1n, 5000n * gwei);

/** At least 12.5 % more, without rounding in favour of the code under test. */
const isRaised = (before: bigint, after: bigint) => after > before && after * 8n >= before * 9n;

describe("raised fees", () => {
  it("are both 12.5 % higher, at least the market's, and within the cap, or the cap leaves no room", () => {
    fc.assert(
      fc.property(terms, terms, cap, (previous, market, most) => {
        const raised = raiseFees(previous, market, most);
        if (raised === "cap_reached") {
          const least = previous.maxFeePerGas === 0n ? 1n : (previous.maxFeePerGas * 9n + 7n) / 8n;
          expect(least > most).toBe(true);
          return;
        }
        expect(isRaised(previous.maxFeePerGas, raised.maxFeePerGas)).toBe(true);
        expect(isRaised(previous.maxPriorityFeePerGas, raised.maxPriorityFeePerGas)).toBe(true);
        expect(raised.maxPriorityFeePerGas <= raised.maxFeePerGas).toBe(true);
        expect(raised.maxFeePerGas <= most).toBe(true);
        const isMarket = raised.maxFeePerGas >= market.maxFeePerGas || raised.maxFeePerGas === most;
        expect(isMarket).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("are 10 % higher if they are raised by the least that replaces a transaction, and never more than usual", () => {
    fc.assert(
      fc.property(terms, cap, (previous, most) => {
        const raised = raiseLeast(previous, most);
        if (raised === "cap_reached") {
          expect(previous.maxFeePerGas * 11n > most * 10n - 10n).toBe(true);
          return;
        }
        const usual = raiseFees(previous, previous, 10n * most + 10n);
        for (const fee of ["maxFeePerGas", "maxPriorityFeePerGas"] as const) {
          expect(raised[fee] > previous[fee] && raised[fee] * 10n >= previous[fee] * 11n).toBe(true);
          expect(usual !== "cap_reached" && raised[fee] <= usual[fee]).toBe(true);
        }
        expect(raised.maxFeePerGas <= most).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("can be raised until the cap is reached, in a bounded number of steps", () => {
    let fees: FeeTerms = { maxFeePerGas: gwei, maxPriorityFeePerGas: gwei };
    let steps = 0;
    for (;;) {
      const raised = raiseFees(fees, fees, 500n * gwei);
      if (raised === "cap_reached") break;
      fees = raised;
      steps += 1;
    }
    expect(steps).toBeGreaterThan(40);
    expect(steps).toBeLessThan(60);
  });
});

describe("the fees of the market", () => {
  const bounds = { feeCap: 100n * gwei, minimumTip: gwei, tipMax: 50n * gwei };

  it.each([
    ["the median of the tips that were paid", 10n, [1n, 3n, 2n], [22n, 2n]],
    ["the minimum if blocks were empty and report zero", 10n, [0n, 0n, 0n], [21n, 1n]],
    ["the minimum if nothing is known", 10n, [], [21n, 1n]],
    ["the cap if the base fee is high", 80n, [2n], [100n, 2n]],
    ["no more of a tip than its maximum", 10n, [500n], [70n, 50n]],
    ["no more of a tip than the cap", 100n, [500n], [100n, 50n]],
    ["a base fee of zero", 0n, [2n], [2n, 2n]],
  ] as const)("are %s", (_, baseFee, tips, [maxFee, tip]) => {
    const seen = { baseFee: baseFee * gwei, tips: tips.map((paid) => paid * gwei) };
    const found = marketFees([seen], bounds);
    expect(found).toEqual({ maxFeePerGas: maxFee * gwei, maxPriorityFeePerGas: tip * gwei });
  });

  it.each([
    [
      "the lower of two nodes",
      [
        [10n, 2n],
        [90n, 40n],
      ],
      [22n, 2n],
    ],
    [
      "the median of three",
      [
        [10n, 3n],
        [90n, 40n],
        [0n, 0n],
      ],
      [23n, 3n],
    ],
    [
      "the lower median of four",
      [
        [10n, 3n],
        [90n, 40n],
        [12n, 4n],
        [80n, 30n],
      ],
      [28n, 4n],
    ],
  ] as const)("are those of %s", (_, nodes, [maxFee, tip]) => {
    const seen = nodes.map(([baseFee, paid]) => ({ baseFee: baseFee * gwei, tips: [paid * gwei] }));
    const found = marketFees(seen, bounds);
    expect(found).toEqual({ maxFeePerGas: maxFee * gwei, maxPriorityFeePerGas: tip * gwei });
  });
});
