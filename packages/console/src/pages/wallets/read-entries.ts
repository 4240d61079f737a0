import type { WalletEntry } from "@bursar/client";

/** The newest entries of a statement, at most `max`, and whether there are older ones. */
export async function readEntries(
  pages: AsyncIterable<{ data: WalletEntry[]; next_cursor: string | null }>,
  max: number,
  show: (count: number) => void,
): Promise<{ rows: WalletEntry[]; isCut: boolean }> {
  const rows: WalletEntry[] = [];
  for await (const { data, next_cursor } of pages) {
    rows.push(...data);
    if (rows.length > max || (rows.length === max && next_cursor !== null))
      return { rows: rows.slice(0, max), isCut: true };
    show(rows.length);
  }
  return { rows, isCut: false };
}
