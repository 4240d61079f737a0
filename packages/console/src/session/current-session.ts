import type { Session } from "@bursar/client";
import { useSyncExternalStore } from "react";

let current: Session | undefined;
let personId: string | undefined;
const listeners = new Set<() => void>();

/** Called with each token that the session has issued. */
export function noteSession(session: Session): void {
  current = session;
  for (const listener of listeners) listener();
}

/**
 * Whether this is the person whose page this is: the one of its first token. Somebody else who logs in in another tab replaces the cookie of
 * all tabs, and what was typed here must not be done in that person's name.
 */
export function isPersonOfPage(id: string): boolean {
  personId ??= id;
  return id === personId;
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
