import { describe, expect, it } from "vitest";
import { createLooks } from "./looks.js";

const startMs = 1_800_000_000_000;
const nothing = { tenants: [], hasDue: false, hasRetries: false };

interface Look {
  /** Of the search; undefined stands for everything. */
  fromMs: number | undefined;
  begunMs: number;
}

/** Lets looks take their time for a while, in steps of a tenth of a second; says when each began. */
async function lookFor(
  durationMs: number,
  tookMs: { all: number; recent: number },
  { failsAll = false } = {},
): Promise<Look[]> {
  const begun: Look[] = [];
  let nowMs = startMs;
  const looks = createLooks({
    findWork: async ({ acceptedFrom }) => {
      begun.push({ fromMs: acceptedFrom?.getTime(), begunMs: nowMs });
      nowMs += acceptedFrom === undefined ? tookMs.all : tookMs.recent;
      if (acceptedFrom === undefined && failsAll)
        throw new Error("canceling statement due to statement timeout");
      return nothing;
    },
    onFound: () => undefined,
    onError: () => undefined,
    onEnded: () => undefined,
    isNotified: () => true,
    monotonicMs: () => nowMs,
  });
  while (nowMs < startMs + durationMs) {
    looks.beginIfDue(new Date(nowMs));
    await looks.ended();
    nowMs += 100;
  }
  return begun;
}

describe("the looks of an engine", () => {
  it("are at everything while that takes a moment", async () => {
    const looks = await lookFor(10_000, { all: 5, recent: 1 });
    expect(looks.length).toBeGreaterThan(8);
    expect(looks.every(({ fromMs }) => fromMs === undefined)).toBe(true);
  });

  it("are at what is recent most of the time if one at everything takes long, as with an old snapshot", async () => {
    const looks = await lookFor(60_000, { all: 500, recent: 5 });
    const all = looks.filter(({ fromMs }) => fromMs === undefined);
    expect(all).toHaveLength(6);
    expect(looks.length).toBeGreaterThan(40);
    // Nothing that was accepted since the last look at everything is passed over, however late it was committed.
    let sawAllMs = 0;
    for (const { fromMs, begunMs } of looks)
      if (fromMs === undefined) sawAllMs = begunMs;
      else expect(fromMs).toBe(sawAllMs - 30_000);
  });

  it("go on, and stay short, while every one at everything times out", async () => {
    const looks = await lookFor(3_600_000, { all: 14_000, recent: 5 }, { failsAll: true });
    const all = looks.filter(({ fromMs }) => fromMs === undefined);
    const recent = looks.filter(({ fromMs }) => fromMs !== undefined);
    expect(all.length).toBeLessThanOrEqual(121);
    expect(recent.length).toBeGreaterThan(1500);
    for (const { fromMs = 0, begunMs } of recent) expect(begunMs - fromMs).toBeLessThanOrEqual(630_000);
  });
});

describe("a look that is wanted", () => {
  it("is at what is recent at once, and at everything as soon as the pause after the last one ends", async () => {
    const begun: (number | undefined)[] = [];
    let nowMs = startMs;
    const looks = createLooks({
      findWork: async ({ acceptedFrom }) => {
        begun.push(acceptedFrom?.getTime());
        nowMs += acceptedFrom === undefined ? 100 : 1;
        return nothing;
      },
      onFound: () => undefined,
      onError: () => undefined,
      onEnded: () => undefined,
      isNotified: () => true,
      monotonicMs: () => nowMs,
    });
    const step = async () => {
      looks.beginIfDue(new Date(nowMs));
      await looks.ended();
    };
    await step();
    expect(looks.wantedInMs()).toBe(Number.POSITIVE_INFINITY);
    looks.want();
    await step();
    expect(begun).toEqual([undefined, startMs - 30_000]);
    expect(looks.wantedInMs()).toBe(2000 - 101);
    nowMs += looks.wantedInMs();
    await step();
    expect(begun.at(-1)).toBeUndefined();
    expect(looks.wantedInMs()).toBe(Number.POSITIVE_INFINITY);
  });
});
