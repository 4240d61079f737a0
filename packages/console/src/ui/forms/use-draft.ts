import { useEffect, useState } from "react";
import { useMe } from "../../session/use-me";

const prefix = "bursar.draft.";

/**
 * What was typed, kept over reloads and over the end of a session, in this tab alone and for the person who typed it. `clear` forgets it, and
 * so does logging out.
 */
export function useDraft<Value extends object>(name: string, initial: () => Value) {
  const key = `${prefix}${useMe().data?.client.id}.${name}`;
  const [value, setValue] = useState<Value>(() => read(key) ?? initial());
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(value)), [key, value]);
  const clear = () => {
    sessionStorage.removeItem(key);
    setValue(initial());
  };
  return { value, change: (part: Partial<Value>) => setValue((old) => ({ ...old, ...part })), clear };
}

/**
 * A draft of something that is created once. Another content has another key; `keepsKey` if the last attempt may have had its effect, which
 * must not happen twice.
 */
export function useKeyedDraft<Value extends object>(name: string, initial: () => Value) {
  const draft = useDraft(name, () => ({ ...initial(), key: crypto.randomUUID() as string }));
  const edit = (part: Partial<Value>, keepsKey = false) =>
    draft.change((keepsKey ? part : { ...part, key: crypto.randomUUID() }) as Partial<typeof draft.value>);
  return { ...draft, edit };
}

/** Nothing that was typed stays in this tab. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) sessionStorage.removeItem(key);
}

function read<Value>(key: string): Value | undefined {
  try {
    const stored = sessionStorage.getItem(key);
    return stored === null ? undefined : (JSON.parse(stored) as Value);
  } catch {
    return undefined;
  }
}
