import { none } from "./rows.js";

/**
 * Finds the row of an order by its number. Numbers are assigned in order, so neighbours in time are neighbours here: 32 of them
 * share a page of slots, and a hash table finds the page. For a million consecutive orders the table takes a megabyte, which stays in
 * a near cache, and the newest orders stay in the nearest, however large the book. With hash tables of ids an operation took a third
 * longer.
 *
 * A page lives as long as one of its orders, so an order costs from 4 bytes, if all its neighbours are open too, to about 150.
 */
export interface NumberIndex {
  /** Pairs of a block, which is a number without its last five bits, and its page counted from 1: 0 is an empty place. */
  places: Float64Array;
  /** The number of places, a power of two, less one; and how far a hash is moved to be one of them. */
  mask: number;
  shift: number;
  /** The slots of all pages, one page after the other: rows counted from 1. */
  slots: Int32Array;
  /** Of each page: its block, and how many orders it has; of a free one, the next free one counted from 1. */
  blocks: Float64Array;
  liveCounts: Int32Array;
  firstFreePage: number;
  pageCount: number;
  /** How many orders there are. */
  count: number;
}

const pageBits = 5;
const pageLength = 1 << pageBits;
const placesAtFirst = 64;
const pagesAtFirst = 32;

export function createNumberIndex(): NumberIndex {
  const index: NumberIndex = {
    places: new Float64Array(placesAtFirst * 2),
    mask: placesAtFirst - 1,
    shift: 32 - Math.log2(placesAtFirst),
    slots: new Int32Array(0),
    blocks: new Float64Array(0),
    liveCounts: new Int32Array(0),
    firstFreePage: 0,
    pageCount: 0,
    count: 0,
  };
  growPages(index, pagesAtFirst);
  return index;
}

/** The row of an order, or `none`. */
export function findRow(index: NumberIndex, number: number): number {
  const block = blockOf(number);
  const page = index.places[placeOf(index, block) * 2 + 1] as number;
  return page === 0 ? none : (index.slots[slotOf(page, block, number)] as number) - 1;
}

/** Adds a row and returns its slot, by which it is removed and its number is read. */
export function insertRow(index: NumberIndex, number: number, row: number): number {
  const block = blockOf(number);
  const page = (index.places[placeOf(index, block) * 2 + 1] as number) || addPage(index, block);
  const slot = slotOf(page, block, number);
  if (index.slots[slot] !== 0) throw new Error(`order number ${number} is in the book already`);
  index.slots[slot] = row + 1;
  index.liveCounts[page - 1] = (index.liveCounts[page - 1] as number) + 1;
  index.count += 1;
  return slot;
}

export function removeSlot(index: NumberIndex, slot: number): void {
  const page = slot >> pageBits;
  const left = (index.liveCounts[page] as number) - 1;
  index.slots[slot] = 0;
  index.liveCounts[page] = left;
  index.count -= 1;
  if (left === 0) dropPage(index, page);
}

export function numberAt({ blocks }: NumberIndex, slot: number): number {
  return (blocks[slot >> pageBits] as number) * pageLength + (slot & (pageLength - 1));
}

function blockOf(number: number): number {
  return Math.floor(number / pageLength);
}

function slotOf(page: number, block: number, number: number): number {
  return (page - 1) * pageLength + (number - block * pageLength);
}

/** The place of a block, or the empty place at which it would be inserted. */
function placeOf({ places, mask, shift }: NumberIndex, block: number): number {
  let place = homeOf(block, shift);
  while (places[place * 2] !== block && places[place * 2 + 1] !== 0) place = (place + 1) & mask;
  return place;
}

/** Multiplication spreads consecutive blocks evenly over all places. */
function homeOf(block: number, shift: number): number {
  return Math.imul(block, 0x9e3779b1) >>> shift;
}

function addPage(index: NumberIndex, block: number): number {
  if (index.pageCount * 2 > index.mask) growPlaces(index);
  if (index.firstFreePage === 0) growPages(index, index.blocks.length * 2);
  const page = index.firstFreePage;
  index.firstFreePage = index.liveCounts[page - 1] as number;
  index.liveCounts[page - 1] = 0;
  index.blocks[page - 1] = block;
  setPlace(index, block, page);
  index.pageCount += 1;
  return page;
}

function setPlace(index: NumberIndex, block: number, page: number): void {
  const place = placeOf(index, block);
  index.places[place * 2] = block;
  index.places[place * 2 + 1] = page;
}

/** Empties the place of a page's block, and moves those behind it that would no longer be found up to fill it. */
function dropPage(index: NumberIndex, page: number): void {
  const { places, mask, shift } = index;
  let gap = placeOf(index, index.blocks[page] as number);
  for (let at = (gap + 1) & mask; places[at * 2 + 1] !== 0; at = (at + 1) & mask) {
    const home = homeOf(places[at * 2] as number, shift);
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    places[gap * 2] = places[at * 2] as number;
    places[gap * 2 + 1] = places[at * 2 + 1] as number;
    gap = at;
  }
  places[gap * 2 + 1] = 0;
  index.liveCounts[page] = index.firstFreePage;
  index.firstFreePage = page + 1;
  index.pageCount -= 1;
}

function growPlaces(index: NumberIndex): void {
  const before = index.places;
  index.places = new Float64Array(before.length * 2);
  index.mask = index.mask * 2 + 1;
  index.shift -= 1;
  for (let at = 0; at < before.length; at += 2)
    if (before[at + 1] !== 0) setPlace(index, before[at] as number, before[at + 1] as number);
}

/** Called when no page is free. */
function growPages(index: NumberIndex, count: number): void {
  const before = index.blocks.length;
  const { slots, blocks, liveCounts } = index;
  index.slots = new Int32Array(count * pageLength);
  index.blocks = new Float64Array(count);
  index.liveCounts = new Int32Array(count);
  index.slots.set(slots);
  index.blocks.set(blocks);
  index.liveCounts.set(liveCounts);
  for (let page = before + 1; page < count; page++) index.liveCounts[page - 1] = page + 1;
  index.firstFreePage = before + 1;
}
