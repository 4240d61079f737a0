/**
 * A page of a list. A list reads a bounded number of rows for each page, so a filter that few rows match can give a page with fewer
 * items than its limit, or none, that is not the last one.
 */
export interface Listed<Item> {
  items: Item[];
  /** The id of the last row that was looked at, if the bound was reached before the page was full. */
  scannedTo: string | undefined;
}
