import type { Timers } from "./loops/timers.js";

/**
 * Detects that the service cannot keep up, early enough to refuse new work instead of letting all of it wait. Two signs: how long the oldest
 * request has been waiting to be written, and how late the event loop runs what is due because of the process's own work. If other programs
 * use the processor, the loop is late as well; refusing work would not help then, so lateness counts only as far as the process has used
 * the processor itself.
 */
export interface LoadGauge {
  /** Read for every request that brings work: a variable, not a calculation. */
  reading: () => LoadReading;
  start: () => void;
  stop: () => void;
}

interface LoadReading {
  acceptWaitMs: number;
  eventLoopDelayMs: number;
  isOverloaded: boolean;
  /** A single write takes too long, so it would not help to refuse only those who use most. */
  isSevere: boolean;
}

interface LoadBounds {
  acceptWaitMs: number;
  eventLoopDelayMs: number;
}

export interface LoadGaugeDeps {
  bounds: LoadBounds;
  /** The age of the oldest request that waits to be written. */
  acceptWaitMs: () => number;
  /** The age of the oldest statement that writes them. Tenants take turns in the queue, so this is what every tenant waits for. */
  acceptWriteMs: () => number;
  onChange: (reading: LoadReading) => void;
  monotonicMs: () => number;
  /** The processor time that this process has used. */
  cpuMs: () => number;
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
  acceptWriteMs,
  onChange,
  monotonicMs,
  cpuMs,
  timers,
}: LoadGaugeDeps): LoadGauge {
  let reading: LoadReading = { acceptWaitMs: 0, eventLoopDelayMs: 0, isOverloaded: false, isSevere: false };
  let cancel: () => void = () => undefined;

  function schedule(): void {
    const dueAtMs = monotonicMs() + lookIntervalMs;
    const cpuBeforeMs = cpuMs();
    cancel = timers.after(lookIntervalMs, () => {
      look(Math.min(Math.max(0, monotonicMs() - dueAtMs), cpuMs() - cpuBeforeMs));
      schedule();
    });
  }

  function look(lateMs: number): void {
    const { isOverloaded: wasOverloaded, isSevere: wasSevere } = reading;
    // One pause is not an overload, however long it was: it counts half, and half of that at the next look.
    const countedMs = Math.min(lateMs, pauseShareMax * bounds.eventLoopDelayMs);
    const eventLoopDelayMs = (reading.eventLoopDelayMs + countedMs) / 2;
    const share = Math.max(acceptWaitMs() / bounds.acceptWaitMs, eventLoopDelayMs / bounds.eventLoopDelayMs);
    const isOverloaded = share > (wasOverloaded ? reliefShare : 1);
    const isSevere = acceptWriteMs() / bounds.acceptWaitMs > (wasSevere ? reliefShare : 1);
    reading = { acceptWaitMs: acceptWaitMs(), eventLoopDelayMs, isOverloaded, isSevere };
    if (isOverloaded !== wasOverloaded) onChange(reading);
  }

  return {
    reading: () => reading,
    start: schedule,
    stop: () => cancel(),
  };
}
