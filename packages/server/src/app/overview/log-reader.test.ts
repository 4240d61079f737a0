import { describe, expect, it } from "vitest";
import { createLogReader, type LogReaderStore } from "./log-reader.js";

/** Runs the reader without waiting; returns what it has read in each step, and how long it rested after it. */
async function run(
  woken: readonly string[],
  read: (tenantIds: readonly string[], eventsMax: number) => string[],
  { stepMs = 0, isGrowing = false, stepsMax = 50 } = {},
) {
  const steps: (readonly string[])[] = [];
  const restsMs: number[] = [];
  const errors: unknown[] = [];
  let nowMs = 0;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const store: LogReaderStore = {
    findBehind: async () => ({ tenantIds: [], lastTenantId: undefined }),
    readSome: async (tenantIds, eventsMax) => {
      nowMs += stepMs;
      steps.push(tenantIds);
      if (isGrowing) reader.wake([]);
      return read(tenantIds, eventsMax);
    },
  };
  const reader = createLogReader({
    store,
    onError: (error) => errors.push(error),
    monotonicMs: () => nowMs,
    timers: {
      after: (ms, work) => {
        restsMs.push(ms);
        // The pause of a reader that has nothing to do.
        if (ms === 10_000 || steps.length >= stepsMax) end();
        else setImmediate(work);
        return () => undefined;
      },
    },
  });
  reader.wake(woken);
  reader.start();
  await ended;
  return { steps, restsMs, errors };
}

const tenants = (count: number) => Array.from({ length: count }, (_, index) => `tenant-${index}`);

describe("the reader of the logs", () => {
  it("serves many tenants in a step, and those that have more after the others", async () => {
    const left = new Map([["tenant-7", 2]]);
    const { steps } = await run(tenants(450), (ids) =>
      ids.filter((id) => (left.get(id) ?? 0) > 0 && left.delete(id)),
    );
    expect(steps.map(({ length }) => length)).toEqual([200, 200, 51]);
    expect(steps[2]?.at(-1)).toBe("tenant-7");
  });

  it("reads the tenants of a step that has failed one by one, and gives up only the one that cannot be read", async () => {
    const { steps, errors } = await run(tenants(5), (ids, eventsMax) => {
      if (ids.includes("tenant-2") && eventsMax > 0) throw new Error("cannot be read");
      return [];
    });
    expect(steps[0]).toHaveLength(5);
    const alone = steps.slice(1).map(([id]) => id);
    expect(new Set(alone)).toEqual(new Set(tenants(5)));
    expect(alone.filter((id) => id !== "tenant-2")).toHaveLength(4);
    expect(errors.length).toBeLessThan(15);
  });

  it("rests four times as long as it has worked, and far longer while the logs grow", async () => {
    const quiet = await run(["a"], () => [], { stepMs: 100 });
    expect(quiet.restsMs[0]).toBe(400);
    const busy = await run(["a"], () => [], { stepMs: 100, isGrowing: true });
    expect(busy.restsMs[0]).toBe(1900);
    expect((await run(["a"], () => [], { stepMs: 1 })).restsMs[0]).toBe(50);
  });
});
