import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";
import { Nullable, OneOf, PathId, Timestamp } from "../values.js";

const Name = Type.String({
  minLength: 1,
  maxLength: 65,
  description: "The name of a market. Defaults to the first one.",
  examples: ["ETH-USD"],
});

const Market = Type.Object(
  {
    market: Type.String(),
    base: Type.String(),
    quote: Type.String(),
    state: OneOf(["trading", "halted"], {
      description:
        "A halted market has met a fault that an operator must look at. It accepts orders, cancellations and amendments, and executes them when it is resumed.",
    }),
    tick_size: Type.String({ description: "Prices are multiples of this." }),
    lot_size: Type.String({ description: "Sizes are multiples of this." }),
    size_min: Type.String({ description: "The smallest size of an order." }),
    maker_fee_basis_points: Type.Integer(),
    taker_fee_basis_points: Type.Integer(),
    reference_price: Type.String({
      description: "The centre of the price band until enough tenants have traded.",
    }),
    price_band_basis_points: Type.Integer({
      description: "How far the price of a new order may be from the centre of the band.",
    }),
    slippage_basis_points: Type.Integer({
      description: "How far beyond the best price a market order trades.",
    }),
    price_min: Nullable(
      Type.String({
        description: "The lowest price that a new order may have now; null right after a start.",
      }),
    ),
    price_max: Nullable(Type.String({ description: "The highest one." })),
  },
  { $id: "Market" },
);

export const MarketList = Type.Object({ data: Type.Array(Market) }, { $id: "MarketList" });

export const MarketPath = Type.Object({ market: PathId("The name of the market.", "ETH-USD") });

/** A public trade: the parties are not named. */
export const Trade = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("trade"),
    market: Type.String(),
    sequence: Type.Integer({ description: "Numbers the market's trades." }),
    price: Type.String(),
    size: Type.String(),
    taker_side: OneOf(["buy", "sell"], { description: "The side of the taker's order." }),
    occurred_at: Timestamp(),
  },
  { $id: "Trade" },
);
export type Trade = Static<typeof Trade>;

export const TradePage = Page(Trade, "TradePage");
export const TradeQuery = PageQuery("trades");

/** The maximum number of levels per side in a snapshot and in the stream. */
export const orderbookDepthMax = 1000;

export const OrderbookQuery = Type.Object(
  {
    market: Type.Optional(Name),
    depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: orderbookDepthMax,
        default: 50,
        description: "The number of levels per side.",
        examples: [10],
      }),
    ),
  },
  { additionalProperties: false },
);

const Level = Type.Array(Type.String(), { minItems: 2, maxItems: 2, description: "Price and size." });

export const Orderbook = Type.Object(
  {
    market: Type.String(),
    sequence: Type.Integer({ description: "Increases with every change of a level." }),
    as_of: Timestamp("The time of the last change of a level."),
    bids: Type.Array(Level, { description: "Best first." }),
    asks: Type.Array(Level, { description: "Best first." }),
    checksum: Type.Integer({
      description:
        "CRC-32 over the ten best asks and then the ten best bids: price and size of each, without decimal points and leading zeros.",
    }),
    source: Type.String({ description: "The origin of the orders: `bursar` for its own market." }),
    stale: Type.Boolean({ description: "Whether the book could not be confirmed for some seconds." }),
  },
  { $id: "Orderbook" },
);
export type Orderbook = Static<typeof Orderbook>;
