import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, PathId, Strings, TimeFilter, Timestamp } from "../values.js";
import { EventKind, eventKinds } from "./event.js";

const stateNames = ["pending", "delivered", "exhausted"] as const;
const State = OneOf(stateNames);
const EndpointId = Type.String({ maxLength: 64 });

const WebhookAttempt = Type.Object(
  {
    number: Type.Integer(),
    at: Timestamp(),
    status: Nullable(Type.Integer(), "The status of the receiver's response; null if there was none."),
    latency_ms: Type.Integer(),
    error: Nullable(Type.String(), "Why there was no response."),
    answer: Nullable(Type.String(), "The first 1 KiB of the response."),
  },
  { $id: "WebhookAttempt" },
);

const WebhookRequest = Type.Object(
  {
    method: Type.Literal("POST"),
    headers: Strings({
      additionalProperties: Type.String(),
      description:
        "By their names in lower case; those of the last attempt where attempts differ. Signatures are not shown, nor `user-agent` and `webhook-epoch`, which are those of the sending process.",
    }),
    body: Type.String({ description: "The bytes that are sent, the same at every attempt." }),
  },
  { $id: "WebhookRequest" },
);

const summaryFields = {
  id: Type.String({ description: "The `delivery_id` and `webhook-id` of every attempt." }),
  object: Type.Literal("webhook_delivery"),
  endpoint_id: Type.String(),
  event: EventKind,
  sequence: Type.Integer({ description: "The sequence of the event in `GET /v1/events`." }),
  state: State,
  repeats: Nullable(Type.String(), "The id of the delivery that this one resends."),
  attempt_count: Type.Integer(),
  last_status: Nullable(Type.Integer()),
  next_attempt_at: Nullable(
    Timestamp(),
    "Always in the future. Null if no further attempt is planned, or if the next one is due: it has begun, or begins as soon as the endpoint is not paused.",
  ),
  created_at: Timestamp(),
  finished_at: Nullable(Timestamp()),
};

const WebhookDeliverySummary = Type.Object(summaryFields, { $id: "WebhookDeliverySummary" });
export type WebhookDeliverySummary = Static<typeof WebhookDeliverySummary>;

const deliveryFields = { ...summaryFields, attempts: Type.Array(WebhookAttempt) };

export const WebhookDelivery = Type.Object(
  {
    ...deliveryFields,
    request: Nullable(
      WebhookRequest,
      "What each attempt sends. Null if the caller may not read events of this kind, or if the event is no longer in the log.",
    ),
  },
  { $id: "WebhookDelivery" },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const ResentWebhookDelivery = Type.Object(deliveryFields, { $id: "ResentWebhookDelivery" });

export const WebhookDeliveryPage = Page(WebhookDeliverySummary, "WebhookDeliveryPage");
export const WebhookDeliveryPath = Type.Object({
  id: PathId("The id of the delivery.", exampleIds.delivery),
});

export const WebhookDeliveryQuery = Type.Object(
  {
    ...PageQuery("deliveries").properties,
    endpoint_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "Only deliveries to this endpoint.",
        examples: [exampleIds.endpoint],
      }),
    ),
    event: Type.Optional(
      OneOf(eventKinds, { description: "Only events of this kind.", examples: ["transaction.updated"] }),
    ),
    sequence: Type.Optional(
      Type.Integer({ minimum: 1, description: "Only deliveries of this event.", examples: [1042] }),
    ),
    state: Type.Optional(
      OneOf(stateNames, { description: "Only deliveries in this state.", examples: ["exhausted"] }),
    ),
    created_after: Type.Optional(TimeFilter("Created after this time.", "2026-11-16T00:00:00Z")),
    created_before: Type.Optional(TimeFilter("Created before this time.", "2026-11-17T00:00:00Z")),
  },
  { additionalProperties: false },
);

/** What one request sends again at most: some tens of milliseconds of work for the database, in one statement. */
const resendMax = 1000;

const ResendLimit = Type.Integer({
  minimum: 1,
  maximum: resendMax,
  default: resendMax,
  description:
    "The maximum number of events or deliveries of this request. Ten of them cost one token of the quota, whatever is found, and each that is sent again costs one more.",
});

/** How many items the quota is charged for, whatever the request finds. What it sends again is charged when it is known. */
export function countResends({ limit = resendMax }: { limit?: number }): number {
  return limit;
}

export const ResendFailedBody = Type.Object(
  {
    endpoint_id: Type.Optional(EndpointId),
    created_after: Type.Optional(Timestamp()),
    created_before: Type.Optional(Timestamp()),
    limit: Type.Optional(ResendLimit),
  },
  { $id: "ResendFailedBody", additionalProperties: false, minProperties: 1 },
);
export type ResendFailedBody = Static<typeof ResendFailedBody>;

export const ResentDeliveries = Type.Object(
  {
    resent: Type.Integer({ description: "The number of new deliveries." }),
    has_more: Type.Boolean({ description: "Whether the same request would find more." }),
  },
  { $id: "ResentDeliveries" },
);

export const ReplayBody = Type.Object(
  {
    endpoint_id: EndpointId,
    from_sequence: Type.Integer({ minimum: 1, description: "The first event to send again." }),
    limit: Type.Optional(ResendLimit),
  },
  { $id: "ReplayBody", additionalProperties: false },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const ReplayedEvents = Type.Object(
  {
    resent: Type.Integer({ description: "The number of new deliveries." }),
    next_sequence: Nullable(
      Type.Integer(),
      "The `from_sequence` of the next request; null if the end of the log was reached.",
    ),
  },
  { $id: "ReplayedEvents" },
);
