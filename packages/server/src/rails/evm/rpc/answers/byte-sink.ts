import { createValueCount } from "./value-count.js";

/** Collects bytes. An object for each part of an answer took 110 bytes, and a node can answer with parts of one byte. */
export interface ByteSink {
  readonly write: (part: Uint8Array) => void;
  readonly bytes: () => number;
  /** Whether they have more values than can be parsed. */
  readonly hasTooManyValues: () => boolean;
  readonly whole: () => Buffer;
}

const chunkBytes = 65_536;

export function createByteSink(): ByteSink {
  const full: Uint8Array[] = [];
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let used = 0;
  const values = createValueCount();
  return {
    hasTooManyValues: values.isTooMany,
    write: (part) => {
      values.see(part);
      for (let from = 0; from < part.length; ) {
        if (used === chunkBytes) {
          full.push(chunk);
          chunk = Buffer.allocUnsafe(chunkBytes);
          used = 0;
        }
        const some = part.subarray(from, from + chunkBytes - used);
        chunk.set(some, used);
        used += some.length;
        from += some.length;
      }
    },
    bytes: () => full.length * chunkBytes + used,
    whole: () => Buffer.concat([...full, chunk.subarray(0, used)]),
  };
}
