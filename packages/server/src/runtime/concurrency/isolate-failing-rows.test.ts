import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBatchSize, isolateFailingRows } from "./isolate-failing-rows.js";

class UnavailableError extends Error {}

/** Processes numbers; a batch with a failing one fails as a whole. */
function setUp(failing: readonly number[]) {
  const processed: number[] = [];
  const failed: number[] = [];
  let calls = 0;
  const run = (rows: readonly number[]) =>
    isolateFailingRows(
      rows,
      async (batch) => {
        calls += 1;
        if (batch.some((row) => failing.includes(row))) throw new Error("a row is at fault");
        processed.push(...batch);
        return batch.length;
      },
      {
        isUnavailable: (error) => error instanceof UnavailableError,
        onFailure: (row) => void failed.push(row),
      },
    );
  return { run, processed, failed, calls: () => calls };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("isolating failing rows", () => {
  it("processes a batch without failures in one call", async () => {
    const { run, processed, failed, calls } = setUp([]);
    expect(await run(upTo(500))).toEqual([500]);
    expect([processed.length, failed, calls()]).toEqual([500, [], 1]);
  });

  it("makes no call for no rows", async () => {
    const { run, calls } = setUp([]);
    expect([await run([]), calls()]).toEqual([[], 0]);
  });

  it("finds one failing row among 500 in 18 calls", async () => {
    const { run, processed, failed, calls } = setUp([123]);
    await run(upTo(500));
    expect([processed, failed]).toEqual([upTo(500).filter((row) => row !== 123), [123]]);
    expect(calls()).toBeLessThanOrEqual(19);
  });

  it("processes every row but the failing ones, in order", async () => {
    const rows = fc.integer({ min: 1, max: 60 });
    await fc.assert(
      fc.asyncProperty(rows, fc.uniqueArray(fc.nat(59), { maxLength: 19 }), async (count, failing) => {
        const { run, processed, failed } = setUp(failing);
        await run(upTo(count));
        const isFailing = (row: number) => failing.includes(row);
        expect(processed).toEqual(upTo(count).filter((row) => !isFailing(row)));
        expect(failed).toEqual(upTo(count).filter(isFailing));
      }),
      { numRuns: 200 },
    );
  });

  it("blames no row if the database is unavailable", async () => {
    const failed: number[] = [];
    const work = async () => {
      throw new UnavailableError();
    };
    const handling = {
      isUnavailable: (error: unknown) => error instanceof UnavailableError,
      onFailure: (row: number) => void failed.push(row),
    };
    await expect(isolateFailingRows([1, 2], work, handling)).rejects.toThrow(UnavailableError);
    expect(failed).toEqual([]);
  });

  it("gives up after 20 failures, so that a fault of the service itself does not mark every row", async () => {
    const { run, failed, processed } = setUp(upTo(100));
    await expect(run(upTo(100))).rejects.toThrow("a row is at fault");
    expect([failed, processed]).toEqual([upTo(20), []]);
  });
});

describe("the size of a batch", () => {
  it("halves after an error down to one and doubles after a success up to the maximum", () => {
    const size = createBatchSize(500);
    const seen = upTo(10).map(() => {
      size.shrink();
      return size.current();
    });
    expect(seen).toEqual([250, 125, 63, 32, 16, 8, 4, 2, 1, 1]);
    for (let step = 0; step < 12; step++) size.grow();
    expect(size.current()).toBe(500);
  });
});
