import { type Static, Type } from "typebox";
import { Event } from "../resources/event.js";
import { WebhookEndpoint } from "../resources/webhook-endpoint.js";
import { Timestamp } from "../values.js";

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

/** The fields of what is sent to an endpoint and is not an event of the log. */
const unloggedFields = {
  delivery_id: Type.String({ description: "Identifies this request." }),
  sequence: Type.Null({ description: "It is not an event of the log." }),
  occurred_at: Timestamp(),
};

/** What a receiver has to answer before anything else is sent to it. */
export const WebhookChallenge = Type.Object(
  {
    event: Type.Literal("endpoint.challenge"),
    ...unloggedFields,
    data: Type.Object({ challenge: Type.String({ description: "What the receiver returns." }) }),
  },
  { $id: "WebhookChallenge" },
);

export const WebhookChallengeAnswer = Type.Object(
  { challenge: WebhookChallenge.properties.data.properties.challenge },
  { $id: "WebhookChallengeAnswer" },
);

/** What `POST /v1/webhook-endpoints/{id}/test` sends. */
export const WebhookTestBody = Type.Object(
  {
    event: Type.Literal("endpoint.test"),
    ...unloggedFields,
    data: Type.Object({ webhook_endpoint: WebhookEndpoint }),
  },
  { $id: "WebhookTestBody" },
);
