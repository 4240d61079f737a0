import type { Timers } from "../../runtime/timers.js";

/** Lets requests wait for a change of one transaction. Changes in other processes are not seen here, so a request that waits polls too. */
export interface ChangeHub {
  publish: (ids: readonly string[]) => void;
  /** Resolves when the transaction has changed, or after the time. */
  wait: (id: string, timeoutMs: number) => Promise<void>;
  /** Wakes every waiting request; no further ones should wait. */
  close: () => void;
  isClosed: () => boolean;
}

export function createChangeHub(timers: Pick<Timers, "after">): ChangeHub {
  const waiting = new Map<string, Set<() => void>>();
  let isClosed = false;
  return {
    publish: (ids) => {
      if (waiting.size === 0) return;
      for (const id of ids) for (const wake of waiting.get(id) ?? []) wake();
    },
    wait: (id, timeoutMs) =>
      new Promise((resolve) => {
        const own = waiting.get(id) ?? new Set();
        waiting.set(id, own);
        const done = () => {
          cancelTimeout();
          own.delete(done);
          if (own.size === 0 && waiting.get(id) === own) waiting.delete(id);
          resolve();
        };
        const cancelTimeout = timers.after(timeoutMs, done);
        own.add(done);
      }),
    close: () => {
      isClosed = true;
      for (const own of [...waiting.values()]) for (const wake of [...own]) wake();
    },
    isClosed: () => isClosed,
  };
}
