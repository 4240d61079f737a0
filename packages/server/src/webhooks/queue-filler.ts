import type { RenderEvents } from "../app/webhooks/render-events.js";
import type { DueDelivery, EndpointKey, SendingStore } from "../app/webhooks/sending.js";
import { createBatchSize } from "../runtime/concurrency/isolate-failing-rows.js";
import type { EndpointQueue, Job } from "./endpoint-queue.js";
import { createTenantTurns } from "./tenant-turns.js";

/** Reads what is due into the queues that have little left: a bounded number of queues at a time, of all tenants in turn. */
export interface QueueFiller {
  /** Returns whether other queues want more. If it fails, the next fill is of half as many. */
  fill: (queues: Iterable<EndpointQueue>) => Promise<boolean>;
  /** Drops what is being read, because the database may have gone back to an earlier state. */
  reset: () => void;
}

export interface QueueFillerDeps {
  store: Pick<SendingStore, "readDue">;
  find: (key: EndpointKey) => EndpointQueue | undefined;
  renderEvents: RenderEvents;
  recordFailure: (due: DueDelivery, error: unknown) => Promise<void>;
  /** Called for a queue that has read past a delivery which is still due. */
  startOver: (queue: EndpointQueue, error: unknown) => void;
  isUnavailable: (error: unknown) => boolean;
  now: () => number;
}

/** How many first attempts one fill reads. Their events are rendered together, while nothing else is read. */
const fillMax = 1024;
const queueFillMax = 64;
const queueFillMin = 8;

export function createQueueFiller({ store, find, renderEvents, ...deps }: QueueFillerDeps): QueueFiller {
  const turns = createTenantTurns<EndpointQueue>(({ lease }) => lease.tenantId);
  const size = createBatchSize(fillMax / queueFillMin);
  let fills = 0;
  let resets = 0;

  /** Reads what is due for these queues, in one query for all of them. */
  async function read(chosen: readonly EndpointQueue[]): Promise<void> {
    const max = Math.max(queueFillMin, Math.min(queueFillMax, Math.floor(fillMax / chosen.length)));
    const requests = chosen.map((queue) => {
      // Before the store is asked: what becomes due in the meantime may not be in its answer.
      queue.mayHaveMore = false;
      return queue.request(max);
    });
    const resetsBefore = resets;
    const found = new Map<EndpointQueue, DueDelivery[]>(chosen.map((queue) => [queue, []]));
    for (const due of await store.readDue(requests, new Date(deps.now()))) {
      const queue = find(due);
      if (queue !== undefined) found.get(queue)?.push(due);
    }
    if (resets === resetsBefore) await distribute(found);
  }

  async function distribute(found: ReadonlyMap<EndpointQueue, readonly DueDelivery[]>): Promise<void> {
    const fresh = [...found].flatMap(([queue, all]) => all.filter(({ id }) => queue.isNew(id)));
    const resetsBefore = resets;
    const rendered = await renderEvents(fresh);
    if (resets !== resetsBefore) return;
    const jobs = new Map<EndpointQueue, Job[]>([...found.keys()].map((queue) => [queue, []]));
    for (const [index, due] of fresh.entries()) {
      const event = rendered[index];
      const queue = find(due);
      if (event === undefined || queue === undefined) continue;
      if (!(event instanceof Error)) jobs.get(queue)?.push({ due, event });
      else
        await deps.recordFailure(due, event).catch((error: unknown) => {
          if (deps.isUnavailable(error)) throw error;
          deps.startOver(queue, error);
        });
    }
    for (const [queue, all] of found) queue.add(jobs.get(queue) ?? [], all);
  }

  return {
    fill: async (queues) => {
      const wanting = [...queues].filter((queue) => queue.wantsMore());
      if (wanting.length === 0) return false;
      wanting.sort((one, other) => one.lastFill - other.lastFill);
      const chosen = turns.choose(wanting, size.current());
      fills += 1;
      for (const queue of chosen) queue.lastFill = fills;
      try {
        await read(chosen);
      } catch (error) {
        for (const queue of chosen) queue.mayHaveMore = true;
        size.shrink();
        throw error;
      }
      size.grow();
      return chosen.length < wanting.length;
    },
    reset: () => {
      resets += 1;
    },
  };
}
