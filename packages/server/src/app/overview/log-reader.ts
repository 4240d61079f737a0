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
   * Reads the next events of some tenants and moves their positions, in one SQL transaction; returns those that may have more. Logs that
   * another process reads at the moment are left out.
   */
  readSome: (tenantIds: readonly string[], eventsMax: number) => Promise<string[]>;
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

/** How many events a step reads, of all its tenants together. */
const eventsMax = 2000;
/** How many tenants a step serves. */
const tenantsMax = 200;
/** Tenants that are known to be behind. Others are found by looking at all. */
const waitingMax = 10_000;
/** For wake-ups that were lost. */
const lookEveryMs = 10_000;
const pauseAfterErrorMs = 1000;
/**
 * It rests longer than it has worked, so that it takes at most a fifth of one connection's time from those who settle, and a twentieth
 * while the logs grow: then it works beside them, and they come first.
 */
const restPerWork = 4;
const restPerWorkWhileGrowing = 19;
const restMinMs = 50;
const restMaxMs = 10_000;

/** A step reads some events of many tenants. A tenant that has more waits behind the others. */
export function createLogReader({ store, onError, monotonicMs, timers }: LogReaderDeps): LogReader {
  const waiting = new Set<string>();
  /** One of the tenants of a step that has failed: these are read alone, so that one log which cannot be read does not stop others. */
  const suspects = new Set<string>();
  const size = createBatchSize(eventsMax);
  let isLooking = true;
  let lookedTo: string | undefined;

  async function step(): Promise<Rest> {
    const beganMs = monotonicMs();
    if (waiting.size > 0) await readOrShrink(chooseTenants());
    else if (isLooking) await look();
    else {
      isLooking = true;
      return { pauseMs: lookEveryMs };
    }
    const perWork = loop.isWoken() ? restPerWorkWhileGrowing : restPerWork;
    return { lingerMs: Math.min(Math.max(perWork * (monotonicMs() - beganMs), restMinMs), restMaxMs) };
  }

  function chooseTenants(): string[] {
    const [first] = waiting;
    if (first !== undefined && suspects.has(first)) return [first];
    const chosen: string[] = [];
    for (const tenantId of waiting) {
      if (chosen.length === tenantsMax) break;
      if (!suspects.has(tenantId)) chosen.push(tenantId);
    }
    return chosen;
  }

  /** A log that cannot be read is tried again when it grows, or when all are looked at. */
  async function readOrShrink(tenantIds: readonly string[]): Promise<void> {
    for (const tenantId of tenantIds) waiting.delete(tenantId);
    try {
      for (const tenantId of await store.readSome(tenantIds, size.current())) waiting.add(tenantId);
      for (const tenantId of tenantIds) suspects.delete(tenantId);
      size.grow();
    } catch (error) {
      const isRetried = tenantIds.length > 1 || size.current() > 1;
      if (isRetried) for (const tenantId of tenantIds) waiting.add(tenantId);
      if (tenantIds.length > 1) for (const tenantId of tenantIds) suspects.add(tenantId);
      else size.shrink();
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
