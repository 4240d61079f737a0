import { none } from "./order-table.js";

/**
 * The levels of one side in the order of their prices: a list of small sorted chunks. A key is a price made so that larger is
 * better (the price of a bid, the negated price of an ask), and the best is last: where most of the work is, arrays grow and shrink
 * at their end. Finding is two binary searches; inserting and removing move at most one chunk's keys, whether there are a hundred
 * levels or a million.
 */
export interface PriceIndex {
  chunks: Chunk[];
  /** The least key that may be in each chunk, side by side, so that choosing a chunk reads no chunk. */
  lowerBounds: number[];
  /** Where the last search or step has stopped. */
  chunkAt: number;
  keyAt: number;
}

interface Chunk {
  keys: Float64Array;
  levels: Int32Array;
  length: number;
}

/** A chunk's keys are 1 KiB: its search stays in the nearest cache, and a split is rare. */
const chunkLengthMax = 128;

export function createPriceIndex(): PriceIndex {
  return { chunks: [createChunk()], lowerBounds: [Number.NEGATIVE_INFINITY], chunkAt: 0, keyAt: 0 };
}

/** Goes to a key, or to where it would be; says whether it is there. */
export function seek(index: PriceIndex, key: number): boolean {
  const { chunks, lowerBounds } = index;
  let low = 0;
  let high = chunks.length - 1;
  // Most keys are near the best: the last chunk is tried before the search.
  if (key >= (lowerBounds[high] as number)) low = high;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((lowerBounds[middle] as number) <= key) low = middle;
    else high = middle - 1;
  }
  index.chunkAt = low;
  const chunk = chunks[low] as Chunk;
  index.keyAt = findInChunk(chunk, key);
  return index.keyAt < chunk.length && chunk.keys[index.keyAt] === key;
}

/** The level at a key that `seek` has found. */
export function soughtLevel(index: PriceIndex): number {
  return (index.chunks[index.chunkAt] as Chunk).levels[index.keyAt] as number;
}

/** Puts a level where `seek` has not found its key. */
export function insertSought(index: PriceIndex, key: number, level: number): void {
  let chunk = index.chunks[index.chunkAt] as Chunk;
  if (chunk.length === chunkLengthMax) {
    split(index, chunk);
    seek(index, key);
    chunk = index.chunks[index.chunkAt] as Chunk;
  }
  const at = index.keyAt;
  chunk.keys.copyWithin(at + 1, at, chunk.length);
  chunk.levels.copyWithin(at + 1, at, chunk.length);
  chunk.keys[at] = key;
  chunk.levels[at] = level;
  chunk.length += 1;
}

/** Takes away the level that `seek` has found. */
export function removeSought(index: PriceIndex): void {
  const { chunks, chunkAt, keyAt } = index;
  const chunk = chunks[chunkAt] as Chunk;
  chunk.keys.copyWithin(keyAt, keyAt + 1, chunk.length);
  chunk.levels.copyWithin(keyAt, keyAt + 1, chunk.length);
  chunk.length -= 1;
  if (chunkAt > 0 && chunk.length <= chunkLengthMax / 4) mergeIntoWorse(index, chunkAt);
}

/** Goes to the best level and gives it. */
export function seekBest(index: PriceIndex): number {
  index.chunkAt = index.chunks.length - 1;
  index.keyAt = (index.chunks[index.chunkAt] as Chunk).length;
  return seekNext(index);
}

/** Goes to the next worse level and gives it. */
export function seekNext(index: PriceIndex): number {
  while (index.keyAt === 0) {
    if (index.chunkAt === 0) return none;
    index.chunkAt -= 1;
    index.keyAt = (index.chunks[index.chunkAt] as Chunk).length;
  }
  index.keyAt -= 1;
  return soughtLevel(index);
}

/**
 * The place of the first key that is not less. Keys are whole numbers, so between two of them there are at most as many others as they
 * differ: that narrows the search from both ends, and where every tick has a level, it is over before it begins.
 */
function findInChunk({ keys, length }: Chunk, key: number): number {
  if (length === 0) return 0;
  const atLeast = length - 1 - ((keys[length - 1] as number) - key);
  const atMost = key - (keys[0] as number);
  let from = atLeast <= 0 ? 0 : Math.min(atLeast, length);
  let to = atMost <= 0 ? 0 : Math.min(atMost, length);
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((keys[middle] as number) < key) from = middle + 1;
    else to = middle;
  }
  return from;
}

function createChunk(): Chunk {
  return { keys: new Float64Array(chunkLengthMax), levels: new Int32Array(chunkLengthMax), length: 0 };
}

/** Moves the better half of a full chunk to a new one. */
function split({ chunks, lowerBounds, chunkAt }: PriceIndex, chunk: Chunk): void {
  const half = chunkLengthMax / 2;
  const better = createChunk();
  better.keys.set(chunk.keys.subarray(half));
  better.levels.set(chunk.levels.subarray(half));
  better.length = half;
  chunk.length = half;
  chunks.splice(chunkAt + 1, 0, better);
  lowerBounds.splice(chunkAt + 1, 0, better.keys[0] as number);
}

/** Keeps chunks from being many and nearly empty. A chunk without keys always goes, so the last one holds the best. */
function mergeIntoWorse({ chunks, lowerBounds }: PriceIndex, chunkAt: number): void {
  const chunk = chunks[chunkAt] as Chunk;
  const worse = chunks[chunkAt - 1] as Chunk;
  if (chunk.length > 0 && worse.length + chunk.length > chunkLengthMax / 2) return;
  worse.keys.set(chunk.keys.subarray(0, chunk.length), worse.length);
  worse.levels.set(chunk.levels.subarray(0, chunk.length), worse.length);
  worse.length += chunk.length;
  chunks.splice(chunkAt, 1);
  lowerBounds.splice(chunkAt, 1);
}
