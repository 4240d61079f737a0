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
    /** The log from `after` up to its present end, oldest first. */
    list: (query?: ListEventsQuery, options?: CallOptions) =>
      createList<BursarEvent, EventPage, number>(
        (after) =>
          transport.call(
            "GET /v1/events",
            { query: { ...query, ...(after === undefined ? {} : { after }) } },
            options,
          ) as Promise<EventPage>,
        ({ data }) => data.at(-1)?.sequence,
      ),
  };
}
