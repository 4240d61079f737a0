import { orderStates } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { Page, PageQuery } from "../pagination.js";

const Timestamp = Type.String({ format: "date-time" });
const State = Type.Enum(Object.keys(orderStates) as (keyof typeof orderStates)[]);
const Side = Type.Enum(["buy", "sell"]);
const OrderType = Type.Enum(["limit", "market"]);
const TimeInForce = Type.Enum(["gtc", "ioc", "fok", "post_only"], {
  description:
    "How long a limit order lives: until it is cancelled (`gtc`), for its first look at the book (`ioc`), the same and only as a whole (`fok`), or until it is cancelled and never as a taker (`post_only`).",
});
const SelfTrade = Type.Enum(["cancel_newest", "cancel_oldest", "cancel_both"], {
  description: "What happens where it meets an order of the same tenant.",
});

// The text of a number is checked where its market is known; here only its length, so that nothing long is looked at.
const Decimal = (description: string) => Type.String({ minLength: 1, maxLength: 79, description });
const OrNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()]);

export const PlaceOrderBody = Type.Object(
  {
    market: Type.String({ minLength: 1, maxLength: 65, description: "A market of `GET /v1/markets`." }),
    side: Side,
    type: Type.Optional(OrderType),
    time_in_force: Type.Optional(TimeInForce),
    price: Type.Optional(
      Decimal("For a limit order: the most that a buyer pays, the least that a seller takes, for one base."),
    ),
    size: Type.Optional(
      Decimal(
        "How much of the base asset. A market order that buys may leave it out, and spends `quote_size`.",
      ),
    ),
    quote_size: Type.Optional(
      Decimal("For a market order that buys: the most that it spends, in the quote asset."),
    ),
    self_trade: Type.Optional(SelfTrade),
    wallet_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The wallet that pays and is paid; the tenant's primary one where it is left out.",
      }),
    ),
    reference: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "The client's own name for it." }),
    ),
  },
  { additionalProperties: false },
);
export type PlaceOrderBody = Static<typeof PlaceOrderBody>;

export const AmendOrderBody = Type.Object(
  {
    size: Decimal(
      "The new size, with what is filled already: less than it is, and more than what is filled. The order keeps its place.",
    ),
  },
  { additionalProperties: false },
);

export const Order = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("order"),
    market: Type.String(),
    side: Side,
    type: OrderType,
    time_in_force: OrNull(TimeInForce),
    self_trade: SelfTrade,
    price: OrNull(Type.String()),
    size: OrNull(Type.String()),
    quote_size: OrNull(Type.String()),
    state: State,
    version: Type.Integer({ description: "Counts its changes; 1 when it is accepted." }),
    filled: Type.String({ description: "How much of the base asset was traded." }),
    remaining: OrNull(Type.String({ description: "How much of `size` was not." })),
    quote_filled: Type.String({
      description: "What was paid or received for it in the quote asset, before fees.",
    }),
    fee: Type.Object(
      { asset: Type.String(), amount: Type.String() },
      { description: "Taken from what the order has received: base for a buyer, quote for a seller." },
    ),
    failure: OrNull(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        rule: Type.Optional(Type.String({ description: "The rule of the policy that has refused it." })),
      }),
    ),
    wallet_id: Type.String(),
    reference: OrNull(Type.String()),
    policy_version: Type.Integer({ description: "The version of the policy that has judged it." }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "Order" },
);
export type Order = Static<typeof Order>;

export const OrderStates = Type.Object(
  {
    data: Type.Array(
      Type.Object({ state: State, meaning: Type.String(), final: Type.Boolean(), next: Type.Array(State) }),
    ),
  },
  { $id: "OrderStates" },
);

export const OrderPage = Page(Order, "OrderPage");
export const OrderPath = Type.Object({ id: Type.String() });

export const OrderQuery = Type.Object(
  {
    ...PageQuery.properties,
    market: Type.Optional(Type.String({ minLength: 1, maxLength: 65 })),
    state: Type.Optional(State),
    side: Type.Optional(Side),
  },
  { additionalProperties: false },
);
