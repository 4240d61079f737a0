import { type Static, Type } from "typebox";
import { Event } from "../resources/event.js";

/** What a receiver gets: the event as every reader of the log sees it, and which delivery of it this is. */
export const WebhookBody = Type.Object(
  {
    event: Event.properties.event,
    delivery_id: Type.String({
      description: "Names the delivery of this event to this endpoint; the same at every attempt.",
    }),
    sequence: Event.properties.sequence,
    occurred_at: Event.properties.occurred_at,
    data: Event.properties.data,
  },
  { $id: "WebhookBody" },
);

export type WebhookBody = Static<typeof WebhookBody>;
