import { createBatchSize } from "../../runtime/concurrency/isolate-failing-rows.js";
import type { Timers } from "../../runtime/loops/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../../runtime/loops/waking-loop.js";

/** Reads the event logs in their order, and writes statements and sums. */
export interface LogReaderStore {
  /** Tenants, after the given one, whose logs have events that were not read, and the last tenant that was looked at; undefined at the end. */
  findBehind: (
    after: string | undefined,
  ) => Promise<{ tenantIds: string[]; lastTenantId: string | undefined }>;
  /**
   * Reads the next events of a tenant and moves its position, in one SQL transaction; returns whether there may be more. If another
   * process reads this log at the moment, nothing is done.
   */
  readSome: (tenantId: string, eventsMax: number) => Promise<boolean>;
}

export interface LogReader extends Pick<WakingLoop, "start" | "stop"> {
  /** The logs of these tenants have grown, or it is not known which. */
  wake: (tenantIds: readonly string[] | "any") => void;
}

export interface LogReaderDeps {
  store: LogReaderStore;
  onError: (error: unknown) => void;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** How many events a step reads. */
const eventsMax = 500;
/** Tenants that are known to be behind. Others are found by looking at all. */
const waitingMax = 10_000;
/** For wake-ups that were lost. */
const lookEveryMs = 10_000;
const pauseAfterErrorMs = 1000;
/** It rests four times as long as it has worked, so it takes at most a fifth of one connection's time from those who settle. */
const restPerWork = 4;
const restMinMs = 50;
const restMaxMs = 1000;

/** A step reads some events of one tenant. A tenant that has more waits behind the others. */
export function createLogReader({ store, onError, monotonicMs, timers }: LogReaderDeps): LogReader {
  const waiting = new Set<string>();
  const size = createBatchSize(eventsMax);
  let isLooking = true;
  let lookedTo: string | undefined;

  async function step(): Promise<Rest> {
    const beganMs = monotonicMs();
    const [tenantId] = waiting;
    if (tenantId !== undefined) await readOrShrink(tenantId);
    else if (isLooking) await look();
    else {
      isLooking = true;
      return { pauseMs: lookEveryMs };
    }
    return { lingerMs: Math.min(Math.max(restPerWork * (monotonicMs() - beganMs), restMinMs), restMaxMs) };
  }

  /** A log that cannot be read is tried again when it grows, or when all are looked at. */
  async function readOrShrink(tenantId: string): Promise<void> {
    waiting.delete(tenantId);
    try {
      if (await store.readSome(tenantId, size.current())) waiting.add(tenantId);
      size.grow();
    } catch (error) {
      if (size.current() > 1) waiting.add(tenantId);
      size.shrink();
      throw error;
    }
  }

  async function look(): Promise<void> {
    const { tenantIds, lastTenantId } = await store.findBehind(lookedTo);
    for (const tenantId of tenantIds) waiting.add(tenantId);
    lookedTo = lastTenantId;
    isLooking = lastTenantId !== undefined;
  }

  const loop = createWakingLoop({ step, onError, pauseAfterErrorMs, timers });
  return {
    start: loop.start,
    stop: loop.stop,
    wake: (tenantIds) => {
      if (tenantIds === "any") isLooking = true;
      else for (const tenantId of tenantIds) if (waiting.size < waitingMax) waiting.add(tenantId);
      loop.wake();
    },
  };
}
