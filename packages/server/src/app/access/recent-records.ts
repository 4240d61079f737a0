import { LRUCache } from "lru-cache";

/** A client can have ten keys, each of up to 2 KiB, so these are counted too: about 50 MB at most. */
const limits = { records: 10_000, credentials: 25_000 };

interface Recorded {
  id: string;
  keys?: readonly unknown[];
  secrets?: readonly unknown[];
}

/**
 * What was last read from the database, by id. It decides nothing but the queue in which a proof is checked: a proof that matches the record
 * waits with its like, so wrong proofs that name a client do not take the places of the right one. The check itself reads the database again.
 */
export function createRecentRecords<Row extends Recorded>() {
  const records = new LRUCache<string, Row>({
    max: limits.records,
    maxSize: limits.credentials,
    sizeCalculation: ({ keys = [], secrets = [] }) => 1 + keys.length + secrets.length,
  });
  return {
    get: (id: string | undefined) => (id === undefined ? undefined : records.get(id)),
    /** The same search, whose results are remembered. An id that does not exist takes no place. */
    watch:
      (find: (id: string) => Promise<Row | undefined>) =>
      async (id: string): Promise<Row | undefined> => {
        const found = await find(id);
        if (found !== undefined) records.set(id, found);
        return found;
      },
  };
}
