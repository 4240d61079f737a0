import { none } from "./rows.js";

/**
 * The levels of one side in the order of their prices: a list of small sorted chunks. A key is a price made so that larger is
 * better (the price of a bid, the negated price of an ask), and the best is last: where most of the work is, arrays grow and shrink
 * at their end. Finding is two binary searches; inserting and removing move at most one chunk's keys, whether there are a hundred
 * levels or a million.
 */
export interface PriceIndex {
  /**
   * The memory of all chunks: pairs of a key and the row of its level. With two arrays for each chunk, an operation anywhere in a
   * book of a million orders took a tenth longer: the arrays themselves had to be fetched first.
   */
  pairs: Float64Array;
  /** The chunks in the order of prices: where each begins in `pairs`, how many pairs it has, and the least key that may be in it. */
  starts: number[];
  lengths: number[];
  lowerBounds: number[];
  /** Where chunks that are gone began; the next one to use is the last. */
  freeStarts: number[];
  /** Where the last search or step has stopped: the chunk, and the place in `pairs`. */
  chunkAt: number;
  pairAt: number;
}

/** A chunk is 2 KiB: its search stays in the nearest cache, and a split is rare. */
const chunkLengthMax = 128;
const chunksAtFirst = 4;

export function createPriceIndex(): PriceIndex {
  const index: PriceIndex = {
    pairs: new Float64Array(0),
    starts: [],
    lengths: [0],
    lowerBounds: [Number.NEGATIVE_INFINITY],
    freeStarts: [],
    chunkAt: 0,
    pairAt: 0,
  };
  growTo(index, chunksAtFirst);
  index.starts.push(index.freeStarts.pop() as number);
  return index;
}

/** Moves to a key, or to the position at which it would be inserted. Returns whether it is there. */
export function seek(index: PriceIndex, key: number): boolean {
  const { lowerBounds } = index;
  let low = 0;
  let high = lowerBounds.length - 1;
  // Most keys are near the best: the last chunk is tried before the search.
  if (key >= (lowerBounds[high] as number)) low = high;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((lowerBounds[middle] as number) <= key) low = middle;
    else high = middle - 1;
  }
  index.chunkAt = low;
  return seekInChunk(index, low, key);
}

/** The level at a key that `seek` has found. */
export function soughtLevel({ pairs, pairAt }: PriceIndex): number {
  return pairs[pairAt + 1] as number;
}

/** Inserts a level at the position to which `seek` has moved. */
export function insertSought(index: PriceIndex, key: number, level: number): void {
  if (index.lengths[index.chunkAt] === chunkLengthMax) {
    split(index);
    seek(index, key);
  }
  const { pairs, lengths, chunkAt, pairAt } = index;
  const length = lengths[chunkAt] as number;
  for (let at = (index.starts[chunkAt] as number) + length * 2 - 1; at >= pairAt; at--)
    pairs[at + 2] = pairs[at] as number;
  pairs[pairAt] = key;
  pairs[pairAt + 1] = level;
  lengths[chunkAt] = length + 1;
}

/** Takes away the level that `seek` has found. */
export function removeSought(index: PriceIndex): void {
  const { pairs, lengths, chunkAt } = index;
  const length = (lengths[chunkAt] as number) - 1;
  const end = (index.starts[chunkAt] as number) + length * 2;
  for (let at = index.pairAt; at < end; at++) pairs[at] = pairs[at + 2] as number;
  lengths[chunkAt] = length;
  if (chunkAt > 0 && fitsIntoWorse(index, chunkAt)) mergeIntoWorse(index, chunkAt);
  else if (chunkAt + 1 < lengths.length && fitsIntoWorse(index, chunkAt + 1))
    mergeIntoWorse(index, chunkAt + 1);
}

/** Goes to the best level and gives it. */
export function seekBest(index: PriceIndex): number {
  goToEnd(index, index.lengths.length - 1);
  return seekNext(index);
}

/** Goes to the next worse level and gives it. */
export function seekNext(index: PriceIndex): number {
  while (index.pairAt === index.starts[index.chunkAt]) {
    if (index.chunkAt === 0) return none;
    goToEnd(index, index.chunkAt - 1);
  }
  index.pairAt -= 2;
  return soughtLevel(index);
}

function goToEnd(index: PriceIndex, chunk: number): void {
  index.chunkAt = chunk;
  index.pairAt = (index.starts[chunk] as number) + (index.lengths[chunk] as number) * 2;
}

/**
 * Goes to the first key that is not less; says whether it is the key. Keys are whole numbers, so between two of them there are at most
 * as many others as they differ: that narrows the search from both ends, and where every tick has a level, it is over before it
 * begins. The ends are the bounds of the chunk and of the next one, which are at hand, and not its first and last key, which are far
 * away.
 */
function seekInChunk(index: PriceIndex, chunk: number, key: number): boolean {
  const { pairs, lengths, lowerBounds } = index;
  const start = index.starts[chunk] as number;
  const length = lengths[chunk] as number;
  index.pairAt = start;
  if (length === 0) return false;
  const isLast = chunk + 1 === lengths.length;
  const above = isLast ? (pairs[start + length * 2 - 2] as number) + 1 : (lowerBounds[chunk + 1] as number);
  const atLeast = length - (above - key);
  const atMost = key - (lowerBounds[chunk] as number);
  let from = atLeast <= 0 ? 0 : Math.min(atLeast, length);
  let to = Math.min(atMost, length);
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((pairs[start + middle * 2] as number) < key) from = middle + 1;
    else to = middle;
  }
  index.pairAt = start + from * 2;
  return from < length && pairs[index.pairAt] === key;
}

/** Moves the better half of a full chunk to a new one. */
function split(index: PriceIndex): void {
  if (index.freeStarts.length === 0) growTo(index, (index.pairs.length / chunkLengthMax / 2) * 2);
  const { pairs, starts, lengths, lowerBounds, chunkAt } = index;
  const half = chunkLengthMax / 2;
  const middle = (starts[chunkAt] as number) + half * 2;
  const start = index.freeStarts.pop() as number;
  pairs.copyWithin(start, middle, middle + half * 2);
  lengths[chunkAt] = half;
  starts.splice(chunkAt + 1, 0, start);
  lengths.splice(chunkAt + 1, 0, half);
  lowerBounds.splice(chunkAt + 1, 0, pairs[start] as number);
}

/**
 * Two neighbours that are half a chunk together are one, so that chunks are never many and nearly empty, whatever the order in which
 * levels go. A chunk without keys always goes, so the last one holds the best.
 */
function fitsIntoWorse({ lengths }: PriceIndex, chunk: number): boolean {
  const length = lengths[chunk] as number;
  return length === 0 || length + (lengths[chunk - 1] as number) <= chunkLengthMax / 2;
}

function mergeIntoWorse(
  { pairs, starts, lengths, lowerBounds, freeStarts }: PriceIndex,
  chunk: number,
): void {
  const length = lengths[chunk] as number;
  const worse = lengths[chunk - 1] as number;
  const start = starts[chunk] as number;
  pairs.copyWithin((starts[chunk - 1] as number) + worse * 2, start, start + length * 2);
  lengths[chunk - 1] = worse + length;
  freeStarts.push(start);
  starts.splice(chunk, 1);
  lengths.splice(chunk, 1);
  lowerBounds.splice(chunk, 1);
}

function growTo(index: PriceIndex, chunks: number): void {
  const before = index.pairs.length;
  const pairs = new Float64Array(chunks * chunkLengthMax * 2);
  pairs.set(index.pairs);
  index.pairs = pairs;
  for (let start = pairs.length; start > before; ) {
    start -= chunkLengthMax * 2;
    index.freeStarts.push(start);
  }
}
