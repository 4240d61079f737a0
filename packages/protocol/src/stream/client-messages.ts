import { type Static, Type } from "typebox";
import { Event } from "../resources/event.js";

/** The messages that a client sends. Each schema validates a message and is part of the AsyncAPI document. */

const MessageId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: "Chosen by the client; the reply carries it.",
  }),
);

export const SubscribeToEvents = Type.Object(
  {
    type: Type.Literal("subscribe"),
    id: MessageId,
    channel: Type.Literal("events"),
    since: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "The last sequence already seen: later events are sent first. Without it, only new events are sent.",
      }),
    ),
    kinds: Type.Optional(
      Type.Array(Event.properties.event, {
        minItems: 1,
        maxItems: 16,
        description: "Only events of these kinds.",
      }),
    ),
    transaction_ids: Type.Optional(
      Type.Array(Type.String({ pattern: "^tx_[0-7][0-9a-hjkmnp-tv-z]{25}$" }), {
        minItems: 1,
        maxItems: 100,
        description: "Only events of these transactions.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type SubscribeToEvents = Static<typeof SubscribeToEvents>;

export const Unsubscribe = Type.Object(
  { type: Type.Literal("unsubscribe"), id: MessageId, channel: Type.String({ minLength: 1, maxLength: 64 }) },
  { additionalProperties: false },
);
export type Unsubscribe = Static<typeof Unsubscribe>;

export const Authenticate = Type.Object(
  {
    type: Type.Literal("authenticate"),
    id: MessageId,
    token: Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "A new access token of the same client; the stream stays open until it expires.",
    }),
  },
  { additionalProperties: false },
);
export type Authenticate = Static<typeof Authenticate>;
