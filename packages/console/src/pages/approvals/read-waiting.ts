import type { Transaction } from "@bursar/client";

export interface Waiting {
  /** The nearest deadline first. */
  rows: Transaction[];
  /** Whether older ones exist that were not read. */
  isCut: boolean;
  pages: number;
}

/**
 * Reads payments that wait for approval until there are `max` or no more. The service lists the newest first and the oldest tend to have the
 * nearest deadlines, so a list that is cut lacks those that matter most, and says so.
 */
export async function readWaiting(
  pages: AsyncIterable<{ data: Transaction[]; next_cursor: string | null }>,
  max: number,
): Promise<Waiting> {
  const found: Waiting = { rows: [], isCut: false, pages: 0 };
  for await (const { data, next_cursor } of pages) {
    found.rows.push(...data);
    found.pages += 1;
    if (found.rows.length < max) continue;
    found.isCut = next_cursor !== null;
    break;
  }
  found.rows.sort((one, other) => Date.parse(deadlineOf(one)) - Date.parse(deadlineOf(other)));
  return found;
}

export function deadlineOf({ approval, created_at }: Transaction): string {
  return approval?.expires_at ?? created_at;
}
