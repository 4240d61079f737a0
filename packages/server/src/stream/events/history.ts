import { LRUCache } from "lru-cache";
import type { ListEvents } from "../../app/events/present-events.js";
import { type BoundedGate, createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
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
const cachedBytesMax = 16_777_216;

/** A stream waits for one read at a time, so no more wait than there are streams. */
const readLimits = { concurrentMax: 3, concurrentOfKeyMax: 2, waitingMax: 50_000, waitingOfKeyMax: 50_000 };

/**
 * What streams read when they resume, by tenant. Tenants take turns, so that one whose streams all begin at different places does not keep
 * the others waiting, and one reader is always left to them.
 */
export function createHistoryReads(): BoundedGate {
  return createBoundedGate(readLimits);
}

export function createHistory(listEvents: ListEvents, reads: BoundedGate): History {
  const pages = new LRUCache<string, EventBatch>({
    maxSize: cachedBytesMax,
    sizeCalculation: (page) => page.all.length,
  });
  const pending = new Map<string, Promise<EventBatch | undefined>>();
  let clears = 0;

  async function read(name: string, tenantId: string, before: number): Promise<EventBatch | undefined> {
    const clearsBefore = clears;
    const events = await reads.run(tenantId, () => listEvents(tenantId, before, pageSize));
    if (events === "full") throw new Error("too many streams wait for a page of the log");
    const page = makeBatch(events);
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
