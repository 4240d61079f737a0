import type { ListEventsQuery } from "../generated/operations.js";
import type { EventList } from "../generated/schemas.js";
import { createList } from "../lists/list.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import type { BursarEvent } from "./event-kinds.js";

export interface EventPage extends Omit<EventList, "data"> {
  data: BursarEvent[];
}

export function createEvents(transport: Transport) {
  return {
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
