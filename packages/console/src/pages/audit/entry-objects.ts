import type { AuditEntry } from "@bursar/client";

/** Begins what an entry says was set, or was there before, as `name:Grace` and `name_before:Grace%20H.` */
const change = /^((?:name|role|state|require_signature|quotas|scope|event)(?:_[a-z]+)?):/;

export interface Change {
  /** Such as `name_before`. The service has written it. */
  name: string;
  /** Anything that somebody has typed. */
  value: string;
}

/** What an entry is about, and what it says was changed. */
export function entryObjects({ object, objects }: Pick<AuditEntry, "object" | "objects">): {
  ids: string[];
  changes: Change[];
} {
  const all = objects.length > 0 ? objects : object === null ? [] : [object];
  return {
    ids: all.filter((one) => !change.test(one)),
    changes: all.flatMap((one) => {
      const name = change.exec(one)?.[1];
      return name === undefined ? [] : [{ name, value: decode(one.slice(name.length + 1)) }];
    }),
  };
}

/** In one line. Values are quoted as in JSON: none of them ends before its own quote, and looks like another change. */
export function changesText(changes: readonly Change[]): string {
  return changes.map(({ name, value }) => `${name}: ${JSON.stringify(value)}`).join(", ");
}

/** A part that is not encoded is left as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
