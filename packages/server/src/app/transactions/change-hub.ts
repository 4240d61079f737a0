import type { Timers } from "../../runtime/loops/timers.js";

/** Lets requests wait for a change of one transaction. Changes in other processes are not seen here, so a request that waits polls too. */
export interface ChangeHub {
  publish: (ids: readonly string[]) => void;
  /** Begins before the transaction is read, so that a change during the read is not missed. */
  watch: (id: string) => Watch;
  /** Wakes every waiting request; no further ones should wait. */
  close: () => void;
  isClosed: () => boolean;
}

/** What one request waits for. It has to be ended. */
interface Watch {
  /** Resolves when the transaction has changed since the watch began or was waited for last, or after the time. */
  wait: (timeoutMs: number) => Promise<void>;
  end: () => void;
}

export function createChangeHub(timers: Pick<Timers, "after">): ChangeHub {
  const waiting = new Map<string, Set<() => void>>();
  let isClosed = false;
  return {
    publish: (ids) => {
      if (waiting.size === 0) return;
      for (const id of ids) for (const wake of waiting.get(id) ?? []) wake();
    },
    watch: (id) => {
      let hasChanged = false;
      let resume: () => void = () => undefined;
      const wake = () => {
        hasChanged = true;
        resume();
      };
      const own = waiting.get(id) ?? new Set();
      waiting.set(id, own.add(wake));
      return {
        wait: async (timeoutMs) => {
          if (!hasChanged && !isClosed)
            await new Promise<void>((resolve) => {
              const cancelTimeout = timers.after(timeoutMs, resolve);
              resume = () => {
                cancelTimeout();
                resolve();
              };
            });
          hasChanged = false;
        },
        end: () => {
          own.delete(wake);
          if (own.size === 0 && waiting.get(id) === own) waiting.delete(id);
        },
      };
    },
    close: () => {
      isClosed = true;
      for (const own of [...waiting.values()]) for (const wake of [...own]) wake();
    },
    isClosed: () => isClosed,
  };
}
