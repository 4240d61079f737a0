import type { Timers } from "./timers.js";

/**
 * How long to rest after a step. A pause ends when the loop is woken, and is left out if it was woken during the step; lingering lets work
 * gather, and no wake-up shortens it. Undefined continues at once.
 */
export type Rest = { pauseMs: number } | { lingerMs: number } | undefined;

/**
 * The pause until the next multiple of a period. Loops that rest this way wake up in the same moment, so that what they ask the database
 * can be one statement for all of them.
 */
export function untilTick(monotonicMs: number, everyMs: number): number {
  const leftMs = everyMs - (monotonicMs % everyMs);
  // A timer can fire a moment early.
  return leftMs < everyMs / 10 ? leftMs + everyMs : leftMs;
}

/** Runs one step after the other until it is stopped. */
export interface WakingLoop {
  start: () => void;
  /** There is something to do: ends the pause. */
  wake: () => void;
  /** Whether it was woken since the step began. */
  isWoken: () => boolean;
  isStopping: () => boolean;
  /** Resolves when the current step has ended. */
  stop: () => Promise<void>;
}

export interface WakingLoopDeps {
  step: () => Promise<Rest>;
  onError: (error: unknown) => void;
  /** A wake-up during the step does not shorten it: what fails at once must not be tried in a busy loop. */
  pauseAfterErrorMs: number;
  timers: Pick<Timers, "after">;
}

export function createWakingLoop({ step, onError, pauseAfterErrorMs, timers }: WakingLoopDeps): WakingLoop {
  let running: Promise<void> | undefined;
  let stopping = false;
  let isWoken = false;
  let endPause: (() => void) | undefined;

  async function run(): Promise<void> {
    while (!stopping) {
      isWoken = false;
      try {
        await rest(await step());
      } catch (error) {
        onError(error);
        if (!stopping) await pause(pauseAfterErrorMs);
      }
    }
  }

  async function rest(after: Rest): Promise<void> {
    if (after === undefined) return;
    if ("lingerMs" in after) await linger(after.lingerMs);
    else if (!isWoken) await pause(after.pauseMs);
  }

  function linger(ms: number): Promise<void> {
    return new Promise((resolve) => void timers.after(ms, resolve));
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = timers.after(ms, resolve);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  function wake(): void {
    isWoken = true;
    endPause?.();
  }

  return {
    start: () => {
      running ??= run();
    },
    wake,
    isWoken: () => isWoken,
    isStopping: () => stopping,
    stop: async () => {
      stopping = true;
      wake();
      await running;
    },
  };
}
