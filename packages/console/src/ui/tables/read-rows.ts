/** The first rows of a list, at most `max`, and whether there are more. */
export async function readRows<Row>(
  pages: AsyncIterable<{ data: Row[]; next_cursor: string | null }>,
  max: number,
  show: (count: number) => void,
): Promise<{ rows: Row[]; isCut: boolean }> {
  const rows: Row[] = [];
  for await (const { data, next_cursor } of pages) {
    rows.push(...data);
    if (rows.length > max || (rows.length === max && next_cursor !== null))
      return { rows: rows.slice(0, max), isCut: true };
    show(rows.length);
  }
  return { rows, isCut: false };
}
