import { describe, expect, it } from "vitest";
import { createGroupCommit } from "./group-commit.js";
import { nodeTimers } from "./timers.js";

class UnavailableError extends Error {}

/** Writes numbers; a batch with a negative one fails, and one with a zero finds the database unavailable. */
function setUp() {
  const batches: number[][] = [];
  const commit = createGroupCommit<number, string>({
    write: async (batch) => {
      batches.push([...batch]);
      if (batch.includes(0)) throw new UnavailableError("unavailable");
      if (batch.some((item) => item < 0)) throw new Error("refused");
      return batch.map((item) => `written ${item}`);
    },
    isUnavailable: (error) => error instanceof UnavailableError,
    onWritten: () => undefined,
    monotonicMs: () => performance.now(),
    timers: nodeTimers,
  });
  return { add: (item: number) => commit.add(item) ?? Promise.reject(new Error("full")), batches };
}

describe("the group commit", () => {
  it("writes what arrives together in one batch, and gives each its own outcome", async () => {
    const { add, batches } = setUp();
    expect(await Promise.all([1, 2, 3].map(add))).toEqual(["written 1", "written 2", "written 3"]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it("fails the row that the database refuses, and no other", async () => {
    const { add } = setUp();
    const results = await Promise.allSettled([1, 2, -1, 3, 4].map(add));
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
      ...["written 1", "written 2", "failed", "written 3", "written 4"],
    ]);
  });

  it("fails the whole batch at once if the database is unavailable", async () => {
    const { add, batches } = setUp();
    const results = await Promise.allSettled([1, 0, 2].map(add));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(batches).toHaveLength(1);
  });
});
