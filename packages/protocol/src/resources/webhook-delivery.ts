import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const State = Type.Enum(["pending", "delivered", "exhausted"]);
const EventKind = Type.Enum(["transaction.updated", "wallet.updated", "order.updated", "endpoint.disabled"]);
const EndpointId = Type.String({ maxLength: 64 });

const WebhookAttempt = Type.Object({
  number: Type.Integer(),
  at: Timestamp,
  status: Type.Union([Type.Integer(), Type.Null()], {
    description: "What the receiver answered; null where it did not.",
  }),
  latency_ms: Type.Integer(),
  error: Type.Union([Type.String(), Type.Null()], { description: "Why there was no answer." }),
  answer: Type.Union([Type.String(), Type.Null()], { description: "The first 1 KiB of the answer." }),
});

const summaryFields = {
  id: Type.String({ description: "The `delivery_id` and `webhook-id` of every attempt." }),
  object: Type.Literal("webhook_delivery"),
  endpoint_id: Type.String(),
  event: EventKind,
  sequence: Type.Integer({ description: "Of the event, in `GET /v1/events`." }),
  state: State,
  repeats: Type.Union([Type.String(), Type.Null()], {
    description: "The delivery that this one sends again.",
  }),
  attempt_count: Type.Integer(),
  last_status: Type.Union([Type.Integer(), Type.Null()]),
  next_attempt_at: Type.Union([Timestamp, Type.Null()], {
    description: "Null where it is not on its way any more, or is tried at once.",
  }),
  created_at: Timestamp,
  finished_at: Type.Union([Timestamp, Type.Null()]),
};

const WebhookDeliverySummary = Type.Object(summaryFields, { $id: "WebhookDeliverySummary" });
export type WebhookDeliverySummary = Static<typeof WebhookDeliverySummary>;

export const WebhookDelivery = Type.Object(
  { ...summaryFields, attempts: Type.Array(WebhookAttempt) },
  { $id: "WebhookDelivery" },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookDeliveryPage = Page(WebhookDeliverySummary, "WebhookDeliveryPage");
export const WebhookDeliveryPath = Type.Object({ id: Type.String() });

export const WebhookDeliveryQuery = Type.Object(
  {
    ...PageQuery.properties,
    endpoint_id: Type.Optional(EndpointId),
    event: Type.Optional(EventKind),
    sequence: Type.Optional(Type.Integer({ minimum: 1 })),
    state: Type.Optional(State),
    created_after: Type.Optional(Timestamp),
    created_before: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
);

export const ResendFailedBody = Type.Object(
  {
    endpoint_id: Type.Optional(EndpointId),
    created_after: Type.Optional(Timestamp),
    created_before: Type.Optional(Timestamp),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ResendFailedBody = Static<typeof ResendFailedBody>;

export const ResentDeliveries = Type.Object(
  {
    resent: Type.Integer({ description: "How many new deliveries there are." }),
    has_more: Type.Boolean({ description: "Whether the same request would find more." }),
  },
  { $id: "ResentDeliveries" },
);

export const ReplayBody = Type.Object(
  {
    endpoint_id: EndpointId,
    from_sequence: Type.Integer({ minimum: 1, description: "The first event to send again." }),
  },
  { additionalProperties: false },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const ReplayedEvents = Type.Object(
  {
    resent: Type.Integer({ description: "How many new deliveries there are." }),
    next_sequence: Type.Union([Type.Integer(), Type.Null()], {
      description: "Where to go on; null where the end of the log was reached.",
    }),
  },
  { $id: "ReplayedEvents" },
);
