import { type OrderState, orderStates, orderTransitions } from "@bursar/domain";
import { type Static, Type } from "typebox";
import { exampleIds } from "../examples/example-ids.js";
import { Page, PageQuery } from "../pagination.js";
import {
  CreatedBy,
  Decimal,
  Failure,
  Fee,
  Nullable,
  OneOf,
  PathId,
  TimeFilter,
  Timestamp,
} from "../values.js";

const stateNames = Object.keys(orderStates) as OrderState[];
const State = OneOf(stateNames);
const Side = OneOf(["buy", "sell"]);
const OrderType = OneOf(["limit", "market"]);
const TimeInForce = OneOf(["gtc", "ioc", "fok", "post_only"], {
  description:
    "How long a limit order lives. `gtc`: until it is cancelled. `ioc`: fill what is possible at once, cancel the rest. `fok`: fill completely at once, or not at all. `post_only`: like `gtc`, but rejected if it would take liquidity.",
});
const SelfTrade = OneOf(["cancel_newest", "cancel_oldest", "cancel_both"], {
  description: "What happens if it would trade with an order of the same tenant.",
});

export const PlaceOrderBody = Type.Object(
  {
    market: Type.String({ minLength: 1, maxLength: 65, description: "A market of `GET /v1/markets`." }),
    side: Side,
    type: Type.Optional(OrderType),
    time_in_force: Type.Optional(TimeInForce),
    price: Type.Optional(
      Decimal(
        "Limit orders: the highest price a buyer pays or the lowest a seller accepts, per unit of the base asset.",
      ),
    ),
    size: Type.Optional(
      Decimal("The amount of the base asset. A market buy order may give `quote_size` instead."),
    ),
    quote_size: Type.Optional(Decimal("Market buy orders: the maximum amount to spend, in the quote asset.")),
    self_trade: Type.Optional(SelfTrade),
    wallet_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The wallet that pays and receives. Defaults to the tenant's primary wallet.",
      }),
    ),
    reference: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "The client's own reference for it." }),
    ),
  },
  { $id: "PlaceOrderBody", additionalProperties: false },
);
export type PlaceOrderBody = Static<typeof PlaceOrderBody>;

export const AmendOrderBody = Type.Object(
  {
    size: Decimal(
      "The new total size, including what has been filled: smaller than the present size and larger than `filled`. The order keeps its place in the book.",
    ),
  },
  { $id: "AmendOrderBody", additionalProperties: false },
);

export const Order = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("order"),
    market: Type.String(),
    side: Side,
    type: OrderType,
    time_in_force: Nullable(TimeInForce),
    self_trade: SelfTrade,
    price: Nullable(Type.String()),
    size: Nullable(Type.String()),
    quote_size: Nullable(Type.String()),
    state: State,
    version: Type.Integer({ description: "1 when accepted; increases with every change." }),
    filled: Type.String({ description: "The amount of the base asset that was traded." }),
    remaining: Nullable(Type.String({ description: "The part of `size` that was not." })),
    quote_filled: Type.String({
      description: "The amount of the quote asset that was paid or received for it, before fees.",
    }),
    fee: Fee,
    failure: Nullable(Failure),
    wallet_id: Type.String(),
    reference: Nullable(Type.String()),
    policy_version: Type.Integer({ description: "The version of the policy that evaluated it." }),
    created_by: CreatedBy,
    created_at: Timestamp(),
    updated_at: Timestamp(),
  },
  {
    $id: "Order",
    description: "The fee is deducted from what the order receives: base for a buyer, quote for a seller.",
  },
);
export type Order = Static<typeof Order>;

/** What a client may see of an order that it can change but not read. */
const OrderSummary = Type.Object(
  { id: Type.String(), object: Type.Literal("order"), state: State },
  { $id: "OrderSummary", additionalProperties: false },
);

export const ChangedOrder = Type.Union([Order, OrderSummary], {
  $id: "ChangedOrder",
  description: "The order; only its id and state if the client lacks `orders:read`.",
});

export const OrderPage = Page(Order, "OrderPage");
export const OrderPath = Type.Object({ id: PathId("The id of the order.", exampleIds.order) });

export const OrderQuery = Type.Object(
  {
    ...PageQuery("orders").properties,
    market: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 65,
        description: "Only orders in this market.",
        examples: ["ETH-USD"],
      }),
    ),
    state: Type.Optional(
      OneOf(stateNames, { description: "Only orders in this state.", examples: ["open"] }),
    ),
    side: Type.Optional(
      OneOf(["buy", "sell"], { description: "Only orders on this side.", examples: ["buy"] }),
    ),
    reference: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: "The client's own reference.",
        examples: ["hedge-17"],
      }),
    ),
    wallet_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The wallet that pays and receives.",
        examples: [exampleIds.primaryWallet],
      }),
    ),
    client_id: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "The client that placed it.",
        examples: [exampleIds.client],
      }),
    ),
    created_after: Type.Optional(TimeFilter("Created at this time or later.", "2026-11-01T00:00:00Z")),
    created_before: Type.Optional(TimeFilter("Created before this time.", "2026-12-01T00:00:00Z")),
  },
  { additionalProperties: false },
);

const DescribedState = Type.Object(
  { state: State, meaning: Type.String(), final: Type.Boolean(), next: Type.Array(State) },
  { $id: "OrderStateDescription" },
);

export const OrderStates = Type.Object({ data: Type.Array(DescribedState) }, { $id: "OrderStates" });

/** The table of states as the API shows it. An amendment and a further fill leave an order in its state, so they are no step. */
export function describeOrderStates(): Static<typeof DescribedState>[] {
  return (Object.keys(orderStates) as OrderState[]).map((state) => ({
    state,
    meaning: orderStates[state].meaning,
    final: orderStates[state].final,
    next: [...new Set(Object.values(orderTransitions[state]))].filter((next) => next !== state),
  }));
}
