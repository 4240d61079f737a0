import { useMemo, useSyncExternalStore } from "react";
import { serviceClock } from "../api/service-clock";
import { useMe } from "../session/use-me";
import { itemsBelow, prefix, readUnanswered, removeOld, type Unanswered } from "./stored-requests";

/** What it creates: requests of one kind are asked for again on one page. */
export type UnansweredKind = "payment" | "order";

const listeners = new Set<() => void>();

/**
 * In all tabs of this browser, and after they were closed or logged out: the person who sent a payment would type it again elsewhere, with
 * another key, and it would be paid twice. Nobody else is shown them. Each is an item of its own, so that two tabs never overwrite what the
 * other has remembered.
 */
export function useUnanswered<Body>(kind: UnansweredKind) {
  const folder = `${prefix}${useMe().data?.client.id}.${kind}.`;
  const stored = useSyncExternalStore(subscribe, () => JSON.stringify(itemsBelow(localStorage, folder)));
  return {
    /** Where those of this person are. */
    folder,
    requests: useMemo(() => readUnanswered<Body>(JSON.parse(stored), serviceClock.nowMs()), [stored]),
    remember: (request: Unanswered<Body>) => {
      localStorage.setItem(`${folder}${request.key}`, JSON.stringify(request));
      notify();
    },
    forget: (key: string) => {
      localStorage.removeItem(`${folder}${key}`);
      notify();
    },
  };
}

function notify(): void {
  for (const listener of listeners) listener();
}

/** `storage` says what other tabs have written. */
function subscribe(listener: () => void): () => void {
  if (serviceClock.isKnown()) removeOld(localStorage, serviceClock.nowMs());
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}
