/** Records of a fixed size in large buffers: objects of the same content take five times as much memory. */
export interface RecordStore {
  readonly count: () => number;
  /** A new record, filled with zeros, and its number. */
  readonly add: () => number;
  /** The record itself, not a copy. */
  readonly at: (record: number) => DataView;
  readonly bytes: () => number;
}

const recordsPerChunk = 4096;

export function createRecordStore(recordBytes: number): RecordStore {
  const chunks: ArrayBuffer[] = [];
  let count = 0;
  return {
    count: () => count,
    add: () => {
      if (count === chunks.length * recordsPerChunk)
        chunks.push(new ArrayBuffer(recordBytes * recordsPerChunk));
      count += 1;
      return count - 1;
    },
    at: (record) => {
      const chunk = chunks[Math.floor(record / recordsPerChunk)];
      if (record >= count || chunk === undefined) throw new RangeError(`there is no record ${record}`);
      return new DataView(chunk, (record % recordsPerChunk) * recordBytes, recordBytes);
    },
    bytes: () => chunks.length * recordsPerChunk * recordBytes,
  };
}
