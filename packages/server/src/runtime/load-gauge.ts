import type { Timers } from "./timers.js";

/**
 * Detects that the service cannot keep up, early enough to refuse new work instead of letting all of it wait. Two signs: how long the oldest
 * request has been waiting to be written, and how late the event loop runs what is due.
 */
export interface LoadGauge {
  /** Read for every request that brings work: a variable, not a calculation. */
  isOverloaded: () => boolean;
  reading: () => LoadReading;
  start: () => void;
  stop: () => void;
}

interface LoadReading {
  acceptWaitMs: number;
  eventLoopDelayMs: number;
  isOverloaded: boolean;
}

interface LoadBounds {
  acceptWaitMs: number;
  eventLoopDelayMs: number;
}

export interface LoadGaugeDeps {
  bounds: LoadBounds;
  /** The age of the oldest request that waits to be written. */
  acceptWaitMs: () => number;
  onChange: (reading: LoadReading) => void;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const lookIntervalMs = 50;
/** It ends when both signs have fallen to this share of their bounds, so that it does not change with every look. */
const reliefShare = 0.5;
/** How much one pause can count, as a share of the bound: half of it stays below, and a second one right after it exceeds it. */
const pauseShareMax = 1.5;

export function createLoadGauge({
  bounds,
  acceptWaitMs,
  onChange,
  monotonicMs,
  timers,
}: LoadGaugeDeps): LoadGauge {
  let reading: LoadReading = { acceptWaitMs: 0, eventLoopDelayMs: 0, isOverloaded: false };
  let cancel: () => void = () => undefined;

  function schedule(): void {
    const dueAtMs = monotonicMs() + lookIntervalMs;
    cancel = timers.after(lookIntervalMs, () => {
      look(Math.max(0, monotonicMs() - dueAtMs));
      schedule();
    });
  }

  function look(lateMs: number): void {
    const wasOverloaded = reading.isOverloaded;
    // One pause is not an overload, however long it was: it counts half, and half of that at the next look.
    const countedMs = Math.min(lateMs, pauseShareMax * bounds.eventLoopDelayMs);
    const eventLoopDelayMs = (reading.eventLoopDelayMs + countedMs) / 2;
    const share = Math.max(acceptWaitMs() / bounds.acceptWaitMs, eventLoopDelayMs / bounds.eventLoopDelayMs);
    const isOverloaded = share > (wasOverloaded ? reliefShare : 1);
    reading = { acceptWaitMs: acceptWaitMs(), eventLoopDelayMs, isOverloaded };
    if (isOverloaded !== wasOverloaded) onChange(reading);
  }

  return {
    isOverloaded: () => reading.isOverloaded,
    reading: () => reading,
    start: schedule,
    stop: () => cancel(),
  };
}
