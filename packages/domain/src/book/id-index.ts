import { type BookRows, none } from "./book-rows.js";

/**
 * Finds the row of an order by its id: a hash table with open addressing, in one typed array. A `Map` does the same, but with it a
 * book of a million orders did half as many operations a second, and now and then one of them waited 57 ms while the `Map` made itself
 * anew. This one grows by doubling and is otherwise never rebuilt, because removing closes the gap.
 *
 * Only the end of an id is hashed, where ids differ. They are made by the service, so nobody can choose them to collide.
 */
export interface IdIndex {
  /** Pairs of a hash and a row, counted from 1 so that 0 is an empty place. */
  places: Int32Array;
  /** The number of places, a power of two, less one. */
  mask: number;
  count: number;
}

const placesAtFirst = 2048;
/** Eight hexadecimal digits are as many bits as the hash has; reading sixteen took a tenth of the time of an operation. */
const hashedLength = 8;

export function createIdIndex(): IdIndex {
  return { places: new Int32Array(placesAtFirst * 2), mask: placesAtFirst - 1, count: 0 };
}

/** The row of an id, or `none`. */
export function findRow({ places, mask }: IdIndex, rows: BookRows, id: string, hash: number): number {
  for (let place = hash & mask; ; place = (place + 1) & mask) {
    const row = (places[place * 2 + 1] as number) - 1;
    if (row === none || (places[place * 2] === hash && rows.texts[row >> 2] === id)) return row;
  }
}

/** The id must not be there yet. */
export function insertRow(index: IdIndex, hash: number, row: number): void {
  if (index.count * 2 > index.mask) grow(index);
  putInFirstFree(index, hash, row + 1);
  index.count += 1;
}

/** Empties the place of a row, and moves those behind it that would no longer be found up to fill it. */
export function removeRow(index: IdIndex, hash: number, row: number): void {
  const { places, mask } = index;
  let gap = hash & mask;
  while (places[gap * 2 + 1] !== row + 1) gap = (gap + 1) & mask;
  for (let at = (gap + 1) & mask; places[at * 2 + 1] !== 0; at = (at + 1) & mask) {
    const wanted = (places[at * 2] as number) & mask;
    if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
    places[gap * 2] = places[at * 2] as number;
    places[gap * 2 + 1] = places[at * 2 + 1] as number;
    gap = at;
  }
  places[gap * 2 + 1] = 0;
  index.count -= 1;
}

function putInFirstFree({ places, mask }: IdIndex, hash: number, entry: number): void {
  let place = hash & mask;
  while (places[place * 2 + 1] !== 0) place = (place + 1) & mask;
  places[place * 2] = hash;
  places[place * 2 + 1] = entry;
}

function grow(index: IdIndex): void {
  const before = index.places;
  index.places = new Int32Array(before.length * 2);
  index.mask = index.mask * 2 + 1;
  for (let at = 0; at < before.length; at += 2) {
    const entry = before[at + 1] as number;
    if (entry !== 0) putInFirstFree(index, before[at] as number, entry);
  }
}

/** FNV-1a of an id's end, with its high bits brought down to where places are chosen. */
export function hashId(id: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = Math.max(0, id.length - hashedLength); at < id.length; at++)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
