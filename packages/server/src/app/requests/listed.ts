/** The number of rows that one page reads at most. Without a bound, 300,000 transactions of which none matched took 2.3 s. */
export const scannedRowsMax = 2000;

/**
 * A page of a list. A list reads a bounded number of rows for each page, so a filter that few rows match can give a page with fewer
 * items than its limit, or none, that is not the last one.
 */
export interface Listed<Item> {
  items: Item[];
  /** The id of the last row that was looked at, if the bound was reached before the page was full. */
  scannedTo: string | undefined;
}
