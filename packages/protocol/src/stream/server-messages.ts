import { type Static, Type } from "typebox";
import { ErrorBody } from "../errors/error-body.js";
import { Event } from "../resources/event.js";

/** What the service sends. Fields and types may be added; a client passes over those that it does not know. */

const EchoedId = Type.Optional(Type.String({ description: "That of the message which this answers." }));
const Timestamp = Type.String({ format: "date-time" });

export const Hello = Type.Object({
  type: Type.Literal("hello"),
  connection_id: Type.String({ description: "Stands in the service's log." }),
  server_time: Timestamp,
  heartbeat_interval_ms: Type.Integer({
    description: "How often `heartbeat` comes. When two are missing the connection is dead: reconnect.",
  }),
  expires_at: Type.String({
    format: "date-time",
    description: "When the access token ends, and the stream.",
  }),
  limits: Type.Object({
    message_bytes: Type.Integer({ description: "The largest message that a client may send." }),
    messages_per_second: Type.Integer({ description: "How many messages a client may send, on average." }),
    subscriptions: Type.Integer({ description: "How many channels one stream may be subscribed to." }),
    buffer_bytes: Type.Integer({ description: "How much may wait for a slow reader before it is cut." }),
  }),
});
export type Hello = Static<typeof Hello>;

export const Subscribed = Type.Object({
  type: Type.Literal("subscribed"),
  id: EchoedId,
  channel: Type.String(),
  recovered: Type.Boolean({
    description:
      "Whether everything since `since` follows. `false`: the log does not go back that far; what is new follows.",
  }),
  sequence: Type.Integer({ description: "Everything after this sequence follows." }),
  oldest_sequence: Type.Optional(
    Type.Integer({ description: "Where `recovered` is false: the oldest that there is." }),
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

export const Heartbeat = Type.Object({ type: Type.Literal("heartbeat"), server_time: Timestamp });
export type Heartbeat = Static<typeof Heartbeat>;

export const Reauthenticate = Type.Object({
  type: Type.Literal("reauthenticate"),
  expires_at: Type.String({
    format: "date-time",
    description: "When the stream ends, unless `authenticate` comes.",
  }),
});
export type Reauthenticate = Static<typeof Reauthenticate>;

export const Authenticated = Type.Object({
  type: Type.Literal("authenticated"),
  id: EchoedId,
  expires_at: Timestamp,
});
export type Authenticated = Static<typeof Authenticated>;

export const StreamError = Type.Object({
  type: Type.Literal("error"),
  id: EchoedId,
  ...ErrorBody.properties,
});
export type StreamError = Static<typeof StreamError>;
