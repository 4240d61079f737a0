import { type Static, Type } from "typebox";
import { Event } from "../resources/event.js";

/** What a receiver gets: the event as in the log, with the id of this delivery. */
export const WebhookBody = Type.Object(
  {
    event: Event.properties.event,
    delivery_id: Type.String({
      description: "Identifies the delivery of this event to this endpoint; the same for every attempt.",
    }),
    sequence: Event.properties.sequence,
    occurred_at: Event.properties.occurred_at,
    actor: Event.properties.actor,
    data: Event.properties.data,
  },
  { $id: "WebhookBody" },
);

export type WebhookBody = Static<typeof WebhookBody>;
