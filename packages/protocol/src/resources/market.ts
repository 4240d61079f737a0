import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const Name = Type.String({ minLength: 1, maxLength: 65 });

export const MarketList = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        market: Type.String(),
        base: Type.String(),
        quote: Type.String(),
        tick_size: Type.String({ description: "The step of prices." }),
        lot_size: Type.String({ description: "The step of sizes." }),
        size_min: Type.String({ description: "The least size of an order." }),
        maker_fee_basis_points: Type.Integer(),
        taker_fee_basis_points: Type.Integer(),
      }),
    ),
  },
  { $id: "MarketList" },
);

export const MarketPath = Type.Object({ market: Type.String() });

/** A trade as everybody sees it: not whose it was. */
export const Trade = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("trade"),
    market: Type.String(),
    sequence: Type.Integer({ description: "Counts the market's trades." }),
    price: Type.String(),
    size: Type.String(),
    taker_side: Type.Enum(["buy", "sell"], { description: "The side of the order that came to the other." }),
    occurred_at: Timestamp,
  },
  { $id: "Trade" },
);
export type Trade = Static<typeof Trade>;

export const TradePage = Page(Trade, "TradePage");
export const TradeQuery = Type.Object({ ...PageQuery.properties }, { additionalProperties: false });

/** The most levels of each side that a snapshot shows, and that the stream follows. */
export const orderbookDepthMax = 1000;

export const OrderbookQuery = Type.Object(
  {
    market: Type.Optional(Name),
    depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: orderbookDepthMax,
        default: 50,
        description: "How many levels of each side.",
      }),
    ),
  },
  { additionalProperties: false },
);

const Level = Type.Array(Type.String(), { minItems: 2, maxItems: 2, description: "Price and size." });

export const Orderbook = Type.Object(
  {
    market: Type.String(),
    sequence: Type.Integer({ description: "Grows with every change of a level." }),
    as_of: Type.String({ format: "date-time", description: "When a level has last changed." }),
    bids: Type.Array(Level, { description: "Best first." }),
    asks: Type.Array(Level, { description: "Best first." }),
    checksum: Type.Integer({
      description:
        "CRC-32 over the ten best asks and then the ten best bids, each as its price and its size without point and leading zeros.",
    }),
    source: Type.String({ description: "Whose orders these are: `bursar`, its own market." }),
    stale: Type.Boolean({ description: "Whether it could not be confirmed for some seconds." }),
  },
  { $id: "Orderbook" },
);
export type Orderbook = Static<typeof Orderbook>;
