import type { AuditDraft } from "../../../app/audit/audit-entry.js";

/**
 * A draft with its values as the database gives them back. The hash of an entry covers these. Of a value that changes when it is stored, such
 * as half of a surrogate pair, the entry would look as if somebody had changed it, and nobody could read what it says.
 */
export function asStored(draft: AuditDraft): AuditDraft {
  const entry = Object.fromEntries(
    Object.entries(draft).map(([name, value]) => [name, typeof value === "string" ? storable(value) : value]),
  ) as unknown as AuditDraft;
  const objects = draft.objects
    ?.map((one) => storable(one).replaceAll(" ", "%20"))
    .filter((one) => one !== "");
  return objects === undefined ? entry : { ...entry, objects };
}

function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}
