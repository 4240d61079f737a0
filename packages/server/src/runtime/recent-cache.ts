import { LRUCache } from "lru-cache";

/**
 * Keeps what was used last, up to so many entries. With the option `max` the library allocates its tables for all of them at once, which was a
 * quarter of the CPU time of a start; a size that counts entries bounds them as well, and the tables grow.
 */
export function createRecentCache<Value extends object | string | number | boolean>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
