import type { ListEvents } from "../../app/events/list-events.js";
import { createTurnstile } from "../turnstile.js";
import { type EventBatch, makeBatch } from "./event-batch.js";

/**
 * What has happened, in pages that begin at round numbers. A page that is full never changes, so that the thousand sockets that come
 * back after a restart read each page once.
 */
export interface History {
  /** The page with the event after a sequence, from its own beginning; undefined where the log has nothing there. */
  pageAfter: (tenantId: string, sequence: number) => Promise<EventBatch | undefined>;
}

const pageSize = 200;
const readsAtOnceMax = 2;
const rememberedBytesMax = 16_777_216;

export function createHistory(listEvents: ListEvents): History {
  const pages = new Map<string, EventBatch>();
  const pending = new Map<string, Promise<EventBatch | undefined>>();
  const turnstile = createTurnstile(readsAtOnceMax);
  let rememberedBytes = 0;

  function remember(name: string, page: EventBatch): void {
    pages.set(name, page);
    rememberedBytes += page.all.length;
    for (const [oldest, { all }] of pages) {
      if (rememberedBytes <= rememberedBytesMax) return;
      pages.delete(oldest);
      rememberedBytes -= all.length;
    }
  }

  async function read(name: string, tenantId: string, before: number): Promise<EventBatch | undefined> {
    const page = makeBatch(await turnstile(() => listEvents(tenantId, before, pageSize)));
    if (page !== undefined && page.first === before + 1 && page.last === before + pageSize) {
      remember(name, page);
    }
    return page;
  }

  return {
    pageAfter: async (tenantId, sequence) => {
      const before = sequence - (sequence % pageSize);
      const name = `${tenantId} ${before}`;
      const remembered = pages.get(name);
      if (remembered !== undefined) return remembered;
      const reading = pending.get(name) ?? read(name, tenantId, before).finally(() => pending.delete(name));
      pending.set(name, reading);
      return reading;
    },
  };
}
