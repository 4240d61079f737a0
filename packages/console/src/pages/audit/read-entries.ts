import type { AuditPage } from "@bursar/client";
import type { ReadEntries } from "./verify-chain";

/** At least as many are read, if there are. */
const entriesMin = 2000;

/** The newest entries, down to the one that this browser saw last, but not many more than `entriesMax`. */
export async function readEntries(
  pages: AsyncIterable<Pick<AuditPage, "data" | "next_cursor" | "removed_to">>,
  seen: number | undefined,
  entriesMax: number,
): Promise<ReadEntries> {
  const entries: AuditPage["data"] = [];
  let removedTo: number | null = null;
  for await (const page of pages) {
    entries.push(...page.data);
    removedTo = page.removed_to;
    if (page.next_cursor === null) return { entries, isAll: true, removedTo };
    const isReached = seen === undefined || (entries.at(-1)?.number ?? seen + 1) <= seen;
    if (entries.length >= (isReached ? entriesMin : entriesMax)) break;
  }
  return { entries, isAll: false, removedTo };
}
