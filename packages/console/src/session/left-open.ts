import { useSyncExternalStore } from "react";

const key = "bursar-left-open";
const listeners = new Set<() => void>();
let reason: unknown;

/**
 * Somebody has logged out, and the service has not said that their session has ended. Its cookie cannot be removed here: each tab, also one that is
 * loaded again, stays logged out until the session has ended or somebody has logged in.
 */
export function noteLeftOpen(error: unknown): void {
  reason = error;
  localStorage.setItem(key, String(Date.now()));
  for (const listener of listeners) listener();
}

export function forgetLeftOpen(): void {
  reason = undefined;
  localStorage.removeItem(key);
  for (const listener of listeners) listener();
}

/** Why it could not be ended, if that was in this tab. */
export function whyLeftOpen(): unknown {
  return reason;
}

export function useIsLeftOpen(): boolean {
  return useSyncExternalStore(subscribe, () => localStorage.getItem(key) !== null);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}
