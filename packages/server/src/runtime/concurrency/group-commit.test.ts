import { describe, expect, it } from "vitest";
import { nodeTimers } from "../loops/timers.js";
import { createGroupCommit } from "./group-commit.js";

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
    tenantOf: (item) => String(Math.floor(Math.abs(item) / 10_000)),
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

  it("writes the items of different tenants in turn", async () => {
    const { add, batches } = setUp();
    const many = Array.from({ length: 1000 }, (_, number) => add(10_001 + number));
    const few = [20_001, 30_001, 30_002].map(add);
    await Promise.all([...many, ...few]);
    expect(batches[0]?.slice(0, 6)).toEqual([10_001, 20_001, 30_001, 10_002, 30_002, 10_003]);
    expect(batches.flat()).toHaveLength(1003);
    expect(batches.flat().filter((item) => item < 20_000)).toEqual(
      Array.from({ length: 1000 }, (_, number) => 10_001 + number),
    );
  });

  describe("while one tenant writes much,", () => {
    /** Items are the names of tenants. Each call of `end` ends what is being written. */
    function setUpWrites() {
      const batches: string[][] = [];
      const writes: (() => void)[] = [];
      const soon: (() => void)[] = [];
      let nowMs = 0;
      const { add } = createGroupCommit<string, string>({
        write: async (batch) => {
          batches.push([...batch]);
          await new Promise<void>((resolve) => writes.push(resolve));
          return batch;
        },
        isUnavailable: () => false,
        tenantOf: (item) => item,
        onWritten: () => undefined,
        monotonicMs: () => nowMs,
        timers: { soon: (work) => void soon.push(work) },
      });
      const run = async () => {
        while (soon.length > 0) {
          soon.shift()?.();
          await new Promise(setImmediate);
        }
      };
      return {
        add: (item: string, count = 1) => {
          for (let index = 0; index < count; index++) void add(item);
        },
        run,
        end: async () => {
          for (const end of writes.splice(0)) end();
          await new Promise(setImmediate);
          await run();
        },
        wait: (ms: number) => {
          nowMs += ms;
        },
        sizes: () => batches.map(({ length }) => length),
        batches,
      };
    }

    it("gives it both writers and whole batches if nobody else writes", async () => {
      const { add, run, sizes } = setUpWrites();
      add("large", 600);
      await run();
      expect(sizes()).toEqual([256, 256]);
    });

    it("gives it a part of one batch, and leaves a writer free, if another one writes too", async () => {
      const { add, run, end, wait, sizes, batches } = setUpWrites();
      add("small");
      add("large", 300);
      await run();
      expect(sizes()).toEqual([65]);
      // What comes alone beside the batch that is being written does not wait for it.
      add("small");
      await run();
      expect(batches[1]).toEqual(["small"]);
      await end();
      expect(sizes()).toEqual([65, 1, 64]);
      // The other one has not written anything for a while.
      wait(1000);
      add("large");
      await end();
      expect(sizes()).toEqual([65, 1, 64, 173]);
    });

    it("writes all of it in the end", async () => {
      const { add, run, end, batches } = setUpWrites();
      add("small");
      add("large", 300);
      add("other", 200);
      await run();
      for (let rest = 0; rest < 20; rest++) await end();
      expect(batches.flat()).toHaveLength(501);
    });
  });

  it("does not let one tenant fill the queue", async () => {
    const { add } = setUp();
    const flood = Array.from({ length: 6000 }, (_, number) => add(10_001 + number).catch(() => "full"));
    expect(await add(20_001)).toBe("written 20001");
    expect((await Promise.all(flood)).filter((outcome) => outcome === "full")).toHaveLength(1000);
  });
});
