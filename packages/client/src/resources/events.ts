import type { ListEventsQuery } from "../generated/operations.js";
import type { EventList } from "../generated/schemas.js";
import { createList } from "../lists/list.js";
import { followEvents } from "../stream/follow-events.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import type { BursarEvent } from "./event-kinds.js";

export interface EventPage extends Omit<EventList, "data"> {
  data: BursarEvent[];
}

export function createEvents(transport: Transport) {
  return {
    /** Every event from `since` on, as it happens: none missing, none twice, over as many connections as it takes. What is lost is a value. */
    follow: followEvents(transport),
    /** The log from `after` up to its present end, oldest first; or from `before` back to its start. */
    list: (query: ListEventsQuery = {}, options?: CallOptions) => {
      const isBackwards = query.order === "desc" || (query.order === undefined && query.before !== undefined);
      const next = (position: number | undefined) =>
        position === undefined ? {} : isBackwards ? { before: position } : { after: position };
      return createList<BursarEvent, EventPage, number>(
        (position) =>
          transport.call(
            "GET /v1/events",
            { query: { ...query, ...next(position) } },
            options,
          ) as Promise<EventPage>,
        // A filter can leave a page empty that is not the last.
        ({ has_more, scanned_to }) => (has_more ? scanned_to : undefined),
      );
    },
  };
}
