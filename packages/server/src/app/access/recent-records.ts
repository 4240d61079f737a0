import { LRUCache } from "lru-cache";

const recordsMax = 10_000;

/**
 * What was last read from the database, by id. It decides nothing but the queue in which a proof is checked: a proof that matches the record
 * waits with its like, so wrong proofs that name a client do not take the places of the right one. The check itself reads the database again.
 */
export function createRecentRecords<Row extends { id: string }>() {
  const records = new LRUCache<string, Row>({ max: recordsMax });
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
