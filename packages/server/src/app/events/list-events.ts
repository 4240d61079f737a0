import type { Event as EventBody } from "@bursar/protocol";
import type { EventStore } from "./event.js";
import type { PresentEvents } from "./present-events.js";

export type ListEvents = (tenantId: string, after: number, limit: number) => Promise<EventBody[]>;

/** Lists the events of a tenant, one page at a time. */
export function createEventLister(events: EventStore, present: PresentEvents): ListEvents {
  return async (tenantId, after, limit) => present(tenantId, await events.listEvents(tenantId, after, limit));
}
