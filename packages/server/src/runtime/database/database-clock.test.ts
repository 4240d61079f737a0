import { describe, expect, it } from "vitest";
import { type ClockReading, createDatabaseClock } from "./database-clock.js";

/** The clocks of a machine and of a database, both in the hands of the test, and round trips that take some time. */
function createClocks() {
  const state = { monotonicMs: 5000, wallAheadMs: 0, databaseAheadMs: 0, roundTripMs: 10, askedToReadMs: 5 };
  const epochMs = 1_800_000_000_000;
  const readings: ClockReading[] = [];
  const clock = createDatabaseClock({
    monotonicMs: () => state.monotonicMs,
    wallMs: () => epochMs + state.monotonicMs + state.wallAheadMs,
    measureEveryMs: 60_000,
    readDatabaseTime: async () => {
      const askedMs = state.monotonicMs;
      const databaseMs = epochMs + askedMs + state.askedToReadMs + state.databaseAheadMs;
      state.monotonicMs += state.roundTripMs;
      return { databaseMs, askedMs, answeredMs: state.monotonicMs };
    },
    onReading: (reading) => readings.push(reading),
    onError: () => undefined,
    timers: { after: () => () => undefined },
  });
  /** How far its time is ahead of the right one. */
  const aheadMs = () => clock.now() - epochMs - state.monotonicMs;
  return { state, clock, readings, aheadMs };
}

const dayMs = 86_400_000;

describe("the clock of the database", () => {
  it("is this machine's until it was measured, and the database's afterwards", async () => {
    const { state, clock, aheadMs } = createClocks();
    state.wallAheadMs = 20_000;
    expect(aheadMs()).toBe(20_000);
    await clock.measure();
    expect(aheadMs()).toBe(0);
    expect(clock.skewMs()).toBe(19_995);
  });

  it("gives no time for an id before it was measured", async () => {
    const { state, clock } = createClocks();
    state.wallAheadMs = 20_000;
    expect(clock.measuredNow).toThrow("the database's clock was not yet measured");
    await clock.measure();
    expect(clock.measuredNow()).toBe(clock.now());
    expect(clock.measuredNow()).toBe(1_800_000_000_000 + state.monotonicMs);
  });

  it("does not take the time of a slow answer for a difference", async () => {
    const { state, clock } = createClocks();
    state.roundTripMs = 12_000;
    await clock.measure();
    expect([clock.skewMs(), clock.fault()]).toEqual([0, undefined]);
    state.askedToReadMs = 11_999;
    await clock.measure();
    expect([clock.skewMs(), clock.fault()]).toEqual([0, undefined]);
  });

  it("ignores what happens to this machine's clock while it runs", async () => {
    const { state, clock, aheadMs } = createClocks();
    await clock.measure();
    state.wallAheadMs = 30 * dayMs;
    expect(aheadMs()).toBe(0);
    await clock.measure();
    expect(aheadMs()).toBe(0);
    expect(clock.fault()).toMatch(/^this machine's clock is 2592000\.0 s ahead of the database's$/);
  });

  it("follows the database, and stands still instead of going back", async () => {
    const { state, clock, aheadMs } = createClocks();
    await clock.measure();
    state.databaseAheadMs = 3000;
    await clock.measure();
    expect(aheadMs()).toBeGreaterThan(2980);
    const before = clock.now();
    state.databaseAheadMs = 0;
    await clock.measure();
    expect(clock.now()).toBe(before);
    state.monotonicMs += 4000;
    expect(aheadMs()).toBeLessThan(20);
  });

  it("does not follow a database whose clock was set by half a minute, until it is right again", async () => {
    for (const databaseAheadMs of [30 * dayMs, -30 * dayMs]) {
      const { state, clock, aheadMs, readings } = createClocks();
      await clock.measure();
      state.databaseAheadMs = databaseAheadMs;
      await clock.measure();
      expect(Math.abs(aheadMs())).toBeLessThan(20);
      expect(readings.at(-1)?.isFollowed).toBe(false);
      expect(clock.fault()).toMatch(/and the database's clock has been set$/);
      state.databaseAheadMs = 0;
      await clock.measure();
      expect(clock.fault()).toBeUndefined();
    }
  });

  it("follows a step on which this machine and the database agree, as after a suspended machine", async () => {
    for (const stepMs of [dayMs, -dayMs]) {
      const { state, clock, aheadMs } = createClocks();
      await clock.measure();
      expect(Math.abs(aheadMs())).toBeLessThan(20);
      state.databaseAheadMs = stepMs;
      state.wallAheadMs = stepMs;
      await clock.measure();
      expect(Math.abs(aheadMs() - stepMs)).toBeLessThan(20);
      expect(clock.fault()).toBeUndefined();
    }
  });
});
