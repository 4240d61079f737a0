import { type Static, Type } from "typebox";
import { ErrorBody } from "../errors/error-body.js";
import { Event } from "../resources/event.js";
import { EpochName, Timestamp } from "../values.js";

/** The messages that the service sends. Fields and types may be added; a client ignores those it does not know. */

const EchoedId = Type.Optional(Type.String({ description: "The id of the message that this replies to." }));

export const Hello = Type.Object({
  type: Type.Literal("hello"),
  connection_id: Type.String({ description: "Identifies the connection in the service's log." }),
  server_time: Timestamp(),
  epoch: EpochName,
  heartbeat_interval_ms: Type.Integer({
    description: "The interval of `heartbeat`. Reconnect after two are missed.",
  }),
  expires_at: Type.String({
    format: "date-time",
    description: "When the access token expires, and with it the stream.",
  }),
  limits: Type.Object({
    message_bytes: Type.Integer({ description: "The maximum size of a client's message." }),
    messages_per_second: Type.Integer({
      description: "The average rate of messages that a client may send.",
    }),
    subscriptions: Type.Integer({ description: "The maximum number of subscriptions of a stream." }),
    buffer_bytes: Type.Integer({
      description: "How much is buffered for a slow reader before it is disconnected.",
    }),
  }),
});
export type Hello = Static<typeof Hello>;

export const Subscribed = Type.Object({
  type: Type.Literal("subscribed"),
  id: EchoedId,
  channel: Type.String(),
  recovered: Type.Boolean({
    description:
      "Whether everything after `since` follows. `false`: the log does not reach back that far, and only new events follow.",
  }),
  sequence: Type.Integer({ description: "Everything after this sequence follows." }),
  oldest_sequence: Type.Optional(
    Type.Integer({ description: "If `recovered` is false: the oldest available sequence." }),
  ),
});
export type Subscribed = Static<typeof Subscribed>;

export const Unsubscribed = Type.Object({
  type: Type.Literal("unsubscribed"),
  id: EchoedId,
  channel: Type.String(),
});
export type Unsubscribed = Static<typeof Unsubscribed>;

export const EventMessage = Type.Object({
  type: Type.Literal("event"),
  channel: Type.Literal("events"),
  event: Event,
});
export type EventMessage = Static<typeof EventMessage>;

export const Heartbeat = Type.Object({ type: Type.Literal("heartbeat"), server_time: Timestamp() });
export type Heartbeat = Static<typeof Heartbeat>;

export const Reauthenticate = Type.Object({
  type: Type.Literal("reauthenticate"),
  expires_at: Type.String({
    format: "date-time",
    description: "When the stream is closed, unless the client sends `authenticate`.",
  }),
});
export type Reauthenticate = Static<typeof Reauthenticate>;

export const Authenticated = Type.Object({
  type: Type.Literal("authenticated"),
  id: EchoedId,
  expires_at: Timestamp(),
});
export type Authenticated = Static<typeof Authenticated>;

export const StreamError = Type.Object({
  type: Type.Literal("error"),
  id: EchoedId,
  ...ErrorBody.properties,
});
export type StreamError = Static<typeof StreamError>;
