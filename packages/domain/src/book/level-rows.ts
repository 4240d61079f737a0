import { type BookRows, takeLevelRow } from "./book-rows.js";

/**
 * A price level is a queue: orders join at its end, trade from its head and may leave from anywhere, each in constant time. It knows
 * its sum and its count, so depth never looks at an order.
 */
export function addLevelRow(rows: BookRows, price: number, marks: number): number {
  const level = takeLevelRow(rows);
  rows.price[level >> 1] = price;
  rows.lots[level >> 1] = 0;
  rows.orderCount[level] = 0;
  rows.marks[level] = marks;
  rows.next[level] = level;
  rows.previous[level] = level;
  return level;
}

/** Puts an order at the end of the queue. */
export function joinQueue(rows: BookRows, level: number, row: number): void {
  const { next, previous, orderCount, lots } = rows;
  const last = previous[level] as number;
  rows.level[row] = level;
  previous[row] = last;
  next[row] = level;
  next[last] = row;
  previous[level] = row;
  orderCount[level] = (orderCount[level] as number) + 1;
  lots[level >> 1] = (lots[level >> 1] as number) + (rows.remaining[row >> 1] as number);
}

/** Takes an order out of the queue, with what remains of it. */
export function leaveQueue(rows: BookRows, level: number, row: number): void {
  const { next, previous, orderCount, lots } = rows;
  const before = previous[row] as number;
  const after = next[row] as number;
  next[before] = after;
  previous[after] = before;
  orderCount[level] = (orderCount[level] as number) - 1;
  lots[level >> 1] = (lots[level >> 1] as number) - (rows.remaining[row >> 1] as number);
}

/** Takes lots from an order where it stands: its place in the queue is not touched. */
export function takeLots({ level, remaining, lots }: BookRows, row: number, taken: number): void {
  const at = (level[row] as number) >> 1;
  remaining[row >> 1] = (remaining[row >> 1] as number) - taken;
  lots[at] = (lots[at] as number) - taken;
}
