import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { ListEvents } from "../../app/events/present-events.js";
import { type EventBatch, makeBatch } from "./event-batch.js";

/**
 * What has happened, in pages that begin at round numbers. A page that is full never changes unless the database does, so that the thousand sockets that come
 * back after a restart read each page once.
 */
export interface History {
  /** The page with the event after a sequence, from its own beginning; undefined if the log has nothing there. */
  pageAfter: (tenantId: string, sequence: number) => Promise<EventBatch | undefined>;
  /** Drops everything, because the database may have gone back to an earlier state. */
  clear: () => void;
}

const pageSize = 200;
const readsAtOnceMax = 2;
const cachedBytesMax = 16_777_216;

export function createHistory(listEvents: ListEvents): History {
  const pages = new LRUCache<string, EventBatch>({
    maxSize: cachedBytesMax,
    sizeCalculation: (page) => page.all.length,
  });
  const pending = new Map<string, Promise<EventBatch | undefined>>();
  let clears = 0;
  const limitReads = pLimit(readsAtOnceMax);

  async function read(name: string, tenantId: string, before: number): Promise<EventBatch | undefined> {
    const clearsBefore = clears;
    const page = makeBatch(await limitReads(() => listEvents(tenantId, before, pageSize)));
    const isFull = page !== undefined && page.first === before + 1 && page.last === before + pageSize;
    if (isFull && clears === clearsBefore) pages.set(name, page);
    return page;
  }

  return {
    pageAfter: async (tenantId, sequence) => {
      const before = sequence - (sequence % pageSize);
      const name = `${tenantId} ${before}`;
      const cached = pages.get(name);
      if (cached !== undefined) return cached;
      const running = pending.get(name);
      if (running !== undefined) return running;
      const reading = read(name, tenantId, before).finally(() => {
        if (pending.get(name) === reading) pending.delete(name);
      });
      pending.set(name, reading);
      return reading;
    },
    clear: () => {
      clears += 1;
      pages.clear();
      pending.clear();
    },
  };
}
