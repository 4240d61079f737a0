import type { Timers } from "../loops/timers.js";
import type { Metric } from "../metric.js";

/**
 * The time at which rows of different processes meet. Processes run on machines whose clocks differ, and one that is days ahead would fill
 * a rolling limit for days, sign tokens that no other process accepts, and stop a market's time. So every process takes its time from the
 * database: it adds an offset, measured at the start and each minute, to its own monotonic clock, which nobody can set. Reading it costs
 * no round trip.
 */
export interface DatabaseClock {
  /** The database's time, in milliseconds since 1970. Before the first measurement it is this machine's. */
  now: () => number;
  /**
   * The same, for what is stored, and for ids, which carry a time and never go back. Fails before the first measurement: one id by a clock
   * that is ahead would hold all later ids at its time.
   */
  measuredNow: () => number;
  measure: () => Promise<ClockReading>;
  /** How far this machine's clock was ahead of the database's when it was last measured; negative if it was behind. */
  skewMs: () => number;
  /** Why the service should not take work; undefined if the clocks agree well enough. */
  fault: () => string | undefined;
  /** Measures regularly from now on. */
  start: () => void;
  stop: () => void;
  metrics: readonly Metric[];
}

/** When a time was read from the database, on the monotonic clock: after it was asked for and before the answer arrived. */
export interface DatabaseTime {
  databaseMs: number;
  askedMs: number;
  answeredMs: number;
}

export interface ClockReading {
  /** The part of the difference that does not come from the time that the answer took. */
  skewMs: number;
  /** False if the database's clock differs from everything this process knows, so that it was not followed. */
  isFollowed: boolean;
}

/** The clocks of this machine; replaced in tests. */
export interface LocalClocks {
  wallMs: () => number;
  monotonicMs: () => number;
  measureEveryMs: number;
}

export interface DatabaseClockDeps extends LocalClocks {
  readDatabaseTime: () => Promise<DatabaseTime>;
  onReading: (reading: ClockReading) => void;
  onError: (error: unknown) => void;
  timers: Pick<Timers, "after">;
}

/** Differences between this machine's clock and the database's. Tokens and webhooks tolerate seconds, so more is somebody's mistake. */
export const skewLimits = { warnMs: 1000, notReadyMs: 5000, refuseMs: 30_000 } as const;

export const machineClocks: LocalClocks = {
  wallMs: Date.now,
  monotonicMs: () => performance.now(),
  measureEveryMs: 60_000,
};

/** While the clocks differ, so that a repaired clock is noticed soon. */
const measureAgainMs = 5000;

export function createDatabaseClock(deps: DatabaseClockDeps): DatabaseClock {
  const { wallMs, monotonicMs } = deps;
  /** What is added to the monotonic clock. */
  let offsetMs: number | undefined;
  let lastMs = 0;
  let last: ClockReading = { skewMs: 0, isFollowed: true };
  let isStopped = false;
  let cancel = () => {};

  function now(): number {
    const nowMs = Math.floor(offsetMs === undefined ? wallMs() : offsetMs + monotonicMs());
    // Time stands still instead of going back a little. A larger step back was taken only because two clocks agree on it.
    if (nowMs >= lastMs || lastMs - nowMs > skewLimits.refuseMs) lastMs = nowMs;
    return lastMs;
  }

  /**
   * When the answer arrived, the database's time was somewhere between what it said and that plus the round trip. The offset moves only as
   * far as that requires. A clock that differs by half a minute from both clocks of this process is wrong itself, as after a failover to a
   * machine without a time service, and is not followed: all processes go on with the time that they agreed on.
   */
  async function measure(): Promise<ClockReading> {
    const { databaseMs, askedMs, answeredMs } = await deps.readDatabaseTime();
    const [earliestMs, latestMs] = [databaseMs, databaseMs + answeredMs - askedMs];
    const sinceAnswerMs = monotonicMs() - answeredMs;
    const skewMs = distance(wallMs() - sinceAnswerMs, earliestMs, latestMs);
    const driftMs =
      offsetMs === undefined ? undefined : distance(answeredMs + offsetMs, earliestMs, latestMs);
    const isFollowed = Math.min(Math.abs(skewMs), Math.abs(driftMs ?? 0)) < skewLimits.refuseMs;
    if (offsetMs === undefined) {
      offsetMs = (earliestMs + latestMs) / 2 - answeredMs;
      // What was shown before the first measurement does not bind.
      lastMs = 0;
    } else if (isFollowed) offsetMs -= driftMs ?? 0;
    last = { skewMs, isFollowed };
    deps.onReading(last);
    return last;
  }

  function schedule(): void {
    if (isStopped) return;
    const delayMs = isFaulty(last) ? Math.min(measureAgainMs, deps.measureEveryMs) : deps.measureEveryMs;
    cancel = deps.timers.after(delayMs, () => {
      // A database that does not answer is reported by others; time goes on without it.
      measure().catch(deps.onError).finally(schedule);
    });
  }

  return {
    now,
    measuredNow: () => {
      if (offsetMs === undefined) throw new Error("the database's clock was not yet measured");
      return now();
    },
    measure,
    skewMs: () => last.skewMs,
    fault: () => (isFaulty(last) ? describeReading(last) : undefined),
    start: schedule,
    stop: () => {
      isStopped = true;
      cancel();
    },
    metrics: [
      {
        name: "bursar_clock_skew_seconds",
        help: "How far this machine's clock is ahead of the database's.",
        kind: "gauge",
        read: () => last.skewMs / 1000,
      },
    ],
  };
}

function isFaulty({ skewMs, isFollowed }: ClockReading): boolean {
  return !isFollowed || Math.abs(skewMs) >= skewLimits.notReadyMs;
}

export function describeReading({ skewMs, isFollowed }: ClockReading): string {
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const difference = `this machine's clock is ${seconds} s ${skewMs < 0 ? "behind" : "ahead of"} the database's`;
  return isFollowed ? difference : `${difference}, and the database's clock has been set`;
}

/** How far a time is after the end, or before the begin (negative), of an interval; zero within it. */
function distance(timeMs: number, fromMs: number, toMs: number): number {
  if (timeMs > toMs) return timeMs - toMs;
  return timeMs < fromMs ? timeMs - fromMs : 0;
}
