import type { Session } from "@bursar/client";
import { useSyncExternalStore } from "react";

let current: Session | undefined;
const listeners = new Set<() => void>();

/** Called with each token that the session has issued. */
export function noteSession(session: Session): void {
  current = session;
  for (const listener of listeners) listener();
}

/** The session of this page, as of its last token. */
export function useCurrentSession(): Session | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
