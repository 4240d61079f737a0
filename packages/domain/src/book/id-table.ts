import { type BookRows, none } from "./book-rows.js";

/**
 * Rows by the ids of their orders: a hash table with open addressing, in one typed array. A `Map` does the same, but with it a book of
 * a million orders did half as many operations a second, and now and then one of them waited 57 ms while the `Map` made itself anew.
 * This one grows by doubling and is otherwise never rebuilt, because removing closes the gap.
 *
 * Only the end of an id is hashed, where ids differ. They are made by the service, so nobody can choose them to collide.
 */
export interface IdTable {
  /** Pairs of a hash and a row, counted from 1 so that 0 is an empty place. */
  places: Int32Array;
  /** The number of places, a power of two, less one. */
  mask: number;
  count: number;
}

/** Eight hexadecimal digits are as many bits as the hash has; reading sixteen took a tenth of the time of an operation. */
const hashedLength = 8;

/** The number of places is a power of two; when half of them are taken, it doubles. */
export function createIdTable(places: number): IdTable {
  return { places: new Int32Array(places * 2), mask: places - 1, count: 0 };
}

/** The row of an id, or `none`. */
export function findInTable({ places, mask }: IdTable, rows: BookRows, id: string, hash: number): number {
  for (let place = hash & mask; ; place = (place + 1) & mask) {
    const row = (places[place * 2 + 1] as number) - 1;
    if (row === none || (places[place * 2] === hash && rows.texts[row >> 2] === id)) return row;
  }
}

/** Adds a row, which has its id. */
export function addToTable(table: IdTable, rows: BookRows, hash: number, row: number): void {
  if (table.count * 2 > table.mask) grow(table);
  const { places, mask } = table;
  let place = hash & mask;
  for (; places[place * 2 + 1] !== 0; place = (place + 1) & mask)
    if (places[place * 2] === hash) assertOtherId(rows, (places[place * 2 + 1] as number) - 1, row);
  places[place * 2] = hash;
  places[place * 2 + 1] = row + 1;
  table.count += 1;
}

function assertOtherId({ texts }: BookRows, row: number, added: number): void {
  if (texts[row >> 2] === texts[added >> 2])
    throw new Error(`order ${texts[added >> 2]} is in the book already`);
}

/** Moves all that one table has to another. */
export function moveToTable(table: IdTable, rows: BookRows, from: IdTable): void {
  const { places } = from;
  for (let at = 0; at < places.length; at += 2) {
    const entry = places[at + 1] as number;
    if (entry !== 0) addToTable(table, rows, places[at] as number, entry - 1);
  }
  places.fill(0);
  from.count = 0;
}

/**
 * Empties the place of a row, and moves those behind it that would no longer be found up to fill it. False where the row is not in the
 * table.
 */
export function removeFromTable(table: IdTable, hash: number, row: number): boolean {
  const { places, mask } = table;
  let gap = hash & mask;
  for (; places[gap * 2 + 1] !== row + 1; gap = (gap + 1) & mask) if (places[gap * 2 + 1] === 0) return false;
  for (let at = (gap + 1) & mask; places[at * 2 + 1] !== 0; at = (at + 1) & mask) {
    const wanted = (places[at * 2] as number) & mask;
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    places[gap * 2] = places[at * 2] as number;
    places[gap * 2 + 1] = places[at * 2 + 1] as number;
    gap = at;
  }
  places[gap * 2 + 1] = 0;
  table.count -= 1;
  return true;
}

function grow(table: IdTable): void {
  const before = table.places;
  table.places = new Int32Array(before.length * 2);
  table.mask = table.mask * 2 + 1;
  for (let at = 0; at < before.length; at += 2) {
    if (before[at + 1] === 0) continue;
    let place = (before[at] as number) & table.mask;
    while (table.places[place * 2 + 1] !== 0) place = (place + 1) & table.mask;
    table.places[place * 2] = before[at] as number;
    table.places[place * 2 + 1] = before[at + 1] as number;
  }
}

/** FNV-1a of an id's end, with its high bits brought down to where places are chosen. */
export function hashId(id: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = Math.max(0, id.length - hashedLength); at < id.length; at++)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
