import { type Static, Type } from "typebox";
import { Nullable, Timestamp } from "../values.js";

const hoursMax = 720;

/** A count that ends at a bound, beyond which the number no longer matters. */
export const boundedCount = {
  count: Type.Integer({ description: "Counted up to 10000." }),
  has_more: Type.Boolean({ description: "Whether there are more than were counted." }),
};

const WebhookHour = Type.Object(
  {
    start: Timestamp("When the hour begins, in UTC."),
    attempts: Type.Integer({ description: "The number of requests that were sent." }),
    delivered: Type.Integer({ description: "The number of attempts that succeeded." }),
    exhausted: Type.Integer({ description: "The number of deliveries that were given up." }),
    latency_ms: Type.Integer({ description: "The average of all attempts." }),
    latency_ms_max: Type.Integer(),
  },
  { $id: "WebhookHour" },
);

export const WebhookEndpointStats = Type.Object(
  {
    object: Type.Literal("webhook_endpoint_stats"),
    endpoint_id: Type.String(),
    from: Timestamp("The first hour that is included."),
    attempts: Type.Integer(),
    delivered: Type.Integer(),
    exhausted: Type.Integer(),
    success_rate: Nullable(
      Type.Number(),
      "The share of attempts that succeeded, from 0 to 1; null if there were none.",
    ),
    hours: Type.Array(WebhookHour, {
      maxItems: hoursMax,
      description: "Oldest first. An hour in which nothing was sent is left out.",
    }),
    latency: Nullable(
      Type.Object({
        sample: Type.Integer({ description: "The number of deliveries that it is taken from." }),
        p50_ms: Type.Integer(),
        p95_ms: Type.Integer(),
        max_ms: Type.Integer(),
      }),
      "Of the last attempts of the newest deliveries that are final, at most 500; null if there are none.",
    ),
    pending: Type.Object({
      ...boundedCount,
      oldest_at: Nullable(Timestamp(), "When the event of the oldest one occurred, or it was sent again."),
      next_attempt_at: Nullable(
        Timestamp(),
        "The next attempt that is planned; null if there is none, or all of them are due.",
      ),
    }),
    resendable: Type.Object(boundedCount, {
      description: "Deliveries that were given up and not sent again: what resending failed ones sends.",
    }),
  },
  { $id: "WebhookEndpointStats" },
);
export type WebhookEndpointStats = Static<typeof WebhookEndpointStats>;

export const WebhookStatsQuery = Type.Object(
  {
    hours: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: hoursMax,
        description: "How many hours to include, the current one too; 24 if left out.",
        examples: [24],
      }),
    ),
  },
  { additionalProperties: false },
);

export const ReplayCount = Type.Object(
  {
    from_sequence: Type.Integer(),
    ...boundedCount,
    last_sequence: Nullable(Type.Integer(), "The last event that was looked at; null if there is none."),
  },
  { $id: "ReplayCount" },
);
export type ReplayCount = Static<typeof ReplayCount>;

export const ReplayCountQuery = Type.Object(
  {
    from_sequence: Type.Integer({
      minimum: 1,
      description: "The first event to send again.",
      examples: [1042],
    }),
  },
  { additionalProperties: false },
);
