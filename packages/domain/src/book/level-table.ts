import { none, type OrderTable } from "./order-table.js";

/**
 * The price levels of both sides, as columns like the orders. A level is a queue: orders join at its end, trade from its head and
 * may leave from anywhere, each in constant time. It knows its sum and its count, so depth never looks at an order.
 */
export interface LevelTable {
  price: Float64Array;
  /** The sum of what remains of its orders. */
  lots: Float64Array;
  orderCount: Int32Array;
  head: Int32Array;
  tail: Int32Array;
  /** 1 where the price is in the list of changed levels already. */
  isChanged: Uint8Array;
  /** Rows of levels that are gone; the next one to use is the last. */
  free: number[];
}

const rowsAtFirst = 256;

export function createLevelTable(): LevelTable {
  const table: LevelTable = {
    price: new Float64Array(0),
    lots: new Float64Array(0),
    orderCount: new Int32Array(0),
    head: new Int32Array(0),
    tail: new Int32Array(0),
    isChanged: new Uint8Array(0),
    free: [],
  };
  growTo(table, rowsAtFirst);
  return table;
}

export function addLevelRow(table: LevelTable, price: number): number {
  if (table.free.length === 0) growTo(table, table.price.length * 2);
  const level = table.free.pop() as number;
  table.price[level] = price;
  table.lots[level] = 0;
  table.orderCount[level] = 0;
  table.head[level] = none;
  table.tail[level] = none;
  table.isChanged[level] = 0;
  return level;
}

export function dropLevelRow(table: LevelTable, level: number): void {
  table.free.push(level);
}

/** Puts an order at the end of the queue. */
export function joinQueue(levels: LevelTable, orders: OrderTable, level: number, row: number): void {
  const last = levels.tail[level] as number;
  orders.level[row] = level;
  orders.previous[row] = last;
  orders.next[row] = none;
  if (last === none) levels.head[level] = row;
  else orders.next[last] = row;
  levels.tail[level] = row;
  levels.orderCount[level] = (levels.orderCount[level] as number) + 1;
  levels.lots[level] = (levels.lots[level] as number) + (orders.remaining[row] as number);
}

/** Takes an order out of the queue, with what remains of it. */
export function leaveQueue(levels: LevelTable, orders: OrderTable, row: number): void {
  const level = orders.level[row] as number;
  const previous = orders.previous[row] as number;
  const next = orders.next[row] as number;
  if (previous === none) levels.head[level] = next;
  else orders.next[previous] = next;
  if (next === none) levels.tail[level] = previous;
  else orders.previous[next] = previous;
  levels.orderCount[level] = (levels.orderCount[level] as number) - 1;
  levels.lots[level] = (levels.lots[level] as number) - (orders.remaining[row] as number);
}

/** Takes lots from an order where it stands: its place in the queue is not touched. */
export function takeLots(levels: LevelTable, orders: OrderTable, row: number, lots: number): void {
  const level = orders.level[row] as number;
  orders.remaining[row] = (orders.remaining[row] as number) - lots;
  levels.lots[level] = (levels.lots[level] as number) - lots;
}

function growTo(table: LevelTable, rows: number): void {
  const before = table.price.length;
  const larger = <T extends Int32Array | Float64Array | Uint8Array>(column: T, copy: T): T => {
    copy.set(column);
    return copy;
  };
  table.price = larger(table.price, new Float64Array(rows));
  table.lots = larger(table.lots, new Float64Array(rows));
  table.orderCount = larger(table.orderCount, new Int32Array(rows));
  table.head = larger(table.head, new Int32Array(rows));
  table.tail = larger(table.tail, new Int32Array(rows));
  table.isChanged = larger(table.isChanged, new Uint8Array(rows));
  for (let row = rows - 1; row >= before; row--) table.free.push(row);
}
