import type { Timers } from "./timers.js";

/**
 * How long to rest after a step. A pause ends when somebody has something to do, and is left out where that was said during the step;
 * a breath lets work gather, and not even a wake-up cuts it short. Undefined goes on at once.
 */
export type Rest = { pauseMs: number } | { lingerMs: number } | undefined;

/** Does one step after the other, until it is stopped. */
export interface WakingLoop {
  start: () => void;
  /** Says that there is something to do, so that nobody waits for the next look. */
  wake: () => void;
  /** Whether somebody has said so since the step began. */
  isWoken: () => boolean;
  isStopping: () => boolean;
  /** Resolves when the step that is under way has ended. */
  stop: () => Promise<void>;
}

export interface WakingLoopDeps {
  step: () => Promise<Rest>;
  onError: (error: unknown) => void;
  /** A wake-up that came during the step does not shorten it: whatever fails at once is not to be tried without end. */
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
    if ("lingerMs" in after) await breathe(after.lingerMs);
    else if (!isWoken) await pause(after.pauseMs);
  }

  function breathe(ms: number): Promise<void> {
    return new Promise((resolve) => void timers.after(ms, resolve));
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const callOff = timers.after(ms, resolve);
      endPause = () => {
        callOff();
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
