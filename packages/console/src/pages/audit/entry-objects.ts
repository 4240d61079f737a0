import type { AuditEntry } from "@bursar/client";

/** Begins what an entry says was set, or was there before, as `name:Grace` and `name_before:Grace%20H.` */
const change = /^(name|role|state|require_signature|scope)(_[a-z]+)?:/;

/** What an entry is about, and what it says was changed. */
export function entryObjects({ object, objects }: Pick<AuditEntry, "object" | "objects">): {
  ids: string[];
  changes: string[];
} {
  const all = objects.length > 0 ? objects : object === null ? [] : [object];
  return {
    ids: all.filter((one) => !change.test(one)),
    changes: all.filter((one) => change.test(one)).map(decode),
  };
}

/** A part that is not encoded is left as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
