import { type Static, Type } from "typebox";
import { Orderbook, Trade } from "../resources/market.js";

/** The messages of the market channels. */

const MessageId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: "Chosen by the client; the reply carries it.",
  }),
);
const Since = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }));
const { market, sequence, as_of, bids, asks, checksum, source } = Orderbook.properties;

export const SubscribeToOrderbook = Type.Object(
  {
    type: Type.Literal("subscribe"),
    id: MessageId,
    channel: Type.String({
      pattern: "^orderbook:[A-Za-z0-9._-]{1,65}$",
      description: "`orderbook:` and the name of a market.",
    }),
    since: Since(
      "The sequence of the client's copy of the book. If it is recent, the changes after it follow; otherwise a snapshot.",
    ),
  },
  { additionalProperties: false },
);
export type SubscribeToOrderbook = Static<typeof SubscribeToOrderbook>;

export const SubscribeToTrades = Type.Object(
  {
    type: Type.Literal("subscribe"),
    id: MessageId,
    channel: Type.String({
      pattern: "^trades:[A-Za-z0-9._-]{1,65}$",
      description: "`trades:` and the name of a market.",
    }),
    since: Since(
      "The last sequence already seen: later trades are sent first. Without it, only new trades are sent.",
    ),
  },
  { additionalProperties: false },
);
export type SubscribeToTrades = Static<typeof SubscribeToTrades>;

export const SnapshotMessage = Type.Object({
  type: Type.Literal("snapshot"),
  channel: Type.String(),
  market,
  sequence,
  as_of,
  bids,
  asks,
  checksum,
  source,
});
export type SnapshotMessage = Static<typeof SnapshotMessage>;

const ChangedLevels = Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
  description:
    'Price and new size of each changed level. A size of `"0"` removes the level: it is empty or no longer among the best 1000.',
});

export const DeltaMessage = Type.Object({
  type: Type.Literal("delta"),
  channel: Type.String(),
  sequence,
  previous_sequence: Type.Integer({
    description: "The sequence of the book that this changes. If it is not yours, subscribe again.",
  }),
  as_of,
  bids: ChangedLevels,
  asks: ChangedLevels,
  checksum: Type.Integer({ description: "The checksum of the book after the change." }),
});
export type DeltaMessage = Static<typeof DeltaMessage>;

export const TradeMessage = Type.Object({
  type: Type.Literal("trade"),
  channel: Type.String(),
  trade: Trade,
});
export type TradeMessage = Static<typeof TradeMessage>;
