import type { Timers } from "./timers.js";

/** Renews a lease while a step runs that waits longer for others than the lease lasts, such as for nodes of a chain. */
export interface RenewalDuring {
  /** Does the work of a step, and renews the lease meanwhile. */
  during: <T>(work: () => Promise<T>) => Promise<T>;
  /** The step has got on: one that hangs is counted from here. */
  noteProgress: () => void;
}

export interface RenewDuringDeps {
  /** A failure is left to the step: what it writes checks the fence. */
  renew: () => Promise<unknown>;
  everyMs: number;
  /** A step that has not got on for so long hangs. Its lease is left to expire, so that another process continues. */
  hungAfterMs: number;
  timers: Pick<Timers, "after">;
  monotonicMs: () => number;
}

export function createRenewalDuring({
  renew,
  everyMs,
  hungAfterMs,
  timers,
  monotonicMs,
}: RenewDuringDeps): RenewalDuring {
  let progressMs = 0;
  const noteProgress = () => {
    progressMs = monotonicMs();
  };

  return {
    noteProgress,
    during: async (work) => {
      noteProgress();
      let isOver = false;
      let renewing: Promise<unknown> = Promise.resolve();
      const schedule = () =>
        timers.after(everyMs, () => {
          if (monotonicMs() - progressMs < hungAfterMs) renewing = renew().catch(() => undefined);
          void renewing.then(() => {
            if (!isOver) cancel = schedule();
          });
        });
      let cancel = schedule();
      try {
        return await work();
      } finally {
        isOver = true;
        cancel();
        // One that arrives after the lease was released would take it again.
        await renewing;
      }
    },
  };
}
