import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useMe } from "../../session/use-me";

const prefix = "bursar.draft.";
const listeners = new Set<() => void>();

/**
 * What was typed, kept over reloads and over the end of a session, in this tab alone and for the person who typed it. `clear` forgets it, and
 * so does logging out in this tab. A change is stored when `change` returns, and not when the page was drawn again: what is sent next is already stored,
 * also if the page is reloaded or left at that moment.
 */
export function useDraft<Value extends object>(name: string, initial: () => Value) {
  const key = `${prefix}${useMe().data?.client.id}.${name}`;
  const [fresh, setFresh] = useState(() => ({ key, value: initial() }));
  const stored = useSyncExternalStore(subscribe, () => sessionStorage.getItem(key));
  // Another object of the same page has a draft of its own.
  if (fresh.key !== key) setFresh({ key, value: initial() });
  useEffect(() => {
    if (fresh.key === key && readDraft(key) === undefined) writeDraft(key, fresh.value);
  }, [key, fresh]);
  const value = useMemo(() => parse<Value>(stored), [stored]) ?? fresh.value;
  /** As it is stored now, also after the page was left. */
  const read = () => readDraft<Value>(key) ?? fresh.value;
  const change = (part: Partial<Value>) => writeDraft(key, { ...read(), ...part });
  const clear = () => {
    removeDraft(key);
    setFresh({ key, value: initial() });
  };
  return { value, read, change, clear };
}

/** A draft of something that is created once. Another content has another key. */
export function useKeyedDraft<Value extends object>(name: string, initial: () => Value) {
  const draft = useDraft(name, () => ({ ...initial(), key: crypto.randomUUID() as string }));
  const edit = (part: Partial<Value>) =>
    draft.change({ ...part, key: crypto.randomUUID() } as Partial<typeof draft.value>);
  return { ...draft, edit };
}

/**
 * Nothing that a person typed stays in this tab, except what was sent and not answered. It may have been paid, and the person who sent it
 * would type it again, with another key. It is shown to nobody else. What others have typed here stays for them.
 */
export function forgetDrafts(personId: string): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith(`${prefix}${personId}.`) && readDraft<{ sent?: unknown }>(key)?.sent === undefined)
      removeDraft(key);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readDraft<Value>(key: string): Value | undefined {
  return parse(sessionStorage.getItem(key));
}

function writeDraft(key: string, value: object): void {
  sessionStorage.setItem(key, JSON.stringify(value));
  for (const listener of listeners) listener();
}

function removeDraft(key: string): void {
  sessionStorage.removeItem(key);
  for (const listener of listeners) listener();
}

function parse<Value>(stored: string | null): Value | undefined {
  try {
    return stored === null ? undefined : (JSON.parse(stored) as Value);
  } catch {
    return undefined;
  }
}
