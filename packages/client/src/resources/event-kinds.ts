import type { Event, EventData } from "../generated/schemas.js";

/** Which field of `data` an event of each kind has. */
interface Subjects {
  "transaction.updated": "transaction";
  "wallet.updated": "wallet";
  "order.updated": "order";
  "endpoint.disabled": "webhook_endpoint";
  "change_request.updated": "change_request";
  "audit.checkpoint": "checkpoint";
}

type DataOf<Kind extends keyof Subjects> = Pick<EventData, "previous_state" | "previous_frozen"> &
  Required<Pick<EventData, Subjects[Kind]>>;

/** An event, whose kind says what is in its data. */
export type BursarEvent = {
  [Kind in Event["event"]]: Omit<Event, "event" | "data"> & { event: Kind; data: DataOf<Kind> };
}[Event["event"]];
