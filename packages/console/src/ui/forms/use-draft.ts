import { useEffect, useState } from "react";

/** What was typed, kept over reloads and over the end of a session, in this tab alone. `clear` forgets it. */
export function useDraft<Value extends object>(name: string, initial: () => Value) {
  const key = `bursar.draft.${name}`;
  const [value, setValue] = useState<Value>(() => read(key) ?? initial());
  useEffect(() => sessionStorage.setItem(key, JSON.stringify(value)), [key, value]);
  const clear = () => {
    sessionStorage.removeItem(key);
    setValue(initial());
  };
  return { value, change: (part: Partial<Value>) => setValue((old) => ({ ...old, ...part })), clear };
}

function read<Value>(key: string): Value | undefined {
  try {
    const stored = sessionStorage.getItem(key);
    return stored === null ? undefined : (JSON.parse(stored) as Value);
  } catch {
    return undefined;
  }
}
