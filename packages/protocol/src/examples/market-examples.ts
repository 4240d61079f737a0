import { describeOrderStates, type Order } from "../resources/order.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const acceptedAt = "2026-11-16T09:31:00.000Z";

const pendingOrder: Order = {
  id: exampleIds.order,
  object: "order",
  market: "ETH-USD",
  side: "buy",
  type: "limit",
  time_in_force: "gtc",
  self_trade: "cancel_newest",
  price: "3000",
  size: "0.5",
  quote_size: null,
  state: "pending",
  version: 1,
  filled: "0",
  remaining: "0.5",
  quote_filled: "0",
  fee: { asset: "ETH", amount: "0" },
  failure: null,
  wallet_id: exampleIds.primaryWallet,
  reference: "rebalance-7",
  policy_version: 3,
  created_by: exampleIds.client,
  created_at: acceptedAt,
  updated_at: acceptedAt,
};

export const partlyFilledOrder: Order = {
  ...pendingOrder,
  state: "partially_filled",
  version: 3,
  filled: "0.2",
  remaining: "0.3",
  quote_filled: "600",
  fee: { asset: "ETH", amount: "0.0004" },
  updated_at: "2026-11-16T09:31:01.000Z",
};

export const trade = {
  id: exampleIds.trade,
  object: "trade",
  market: "ETH-USD",
  sequence: 4712,
  price: "3000",
  size: "0.2",
  taker_side: "buy",
  occurred_at: "2026-11-16T09:31:01.000Z",
};

/** The book of the examples; its checksum is that of these levels. */
export const bookLevels = {
  bids: [
    ["2999", "1.5"],
    ["2998", "4"],
  ],
  asks: [
    ["3001", "0.75"],
    ["3002", "2.25"],
  ],
  checksum: 1_927_696_441,
};

export const marketExamples: Examples = {
  Orderbook: {
    value: {
      market: "ETH-USD",
      sequence: 88_214,
      as_of: "2026-11-16T09:31:01.000Z",
      ...bookLevels,
      source: "bursar",
      stale: false,
    },
  },
  MarketList: {
    value: {
      data: [
        {
          market: "ETH-USD",
          base: "ETH",
          quote: "USD",
          state: "trading",
          tick_size: "1",
          lot_size: "0.01",
          size_min: "0.01",
          maker_fee_basis_points: 10,
          taker_fee_basis_points: 20,
          reference_price: "3000",
          price_band_basis_points: 1000,
          slippage_basis_points: 500,
          price_min: "2700",
          price_max: "3300",
        },
      ],
    },
  },
  TradePage: lastPage(trade),
  "PlaceOrderBody.limit": {
    summary: "A limit order",
    value: { market: "ETH-USD", side: "buy", price: "3000", size: "0.5", reference: "rebalance-7" },
  },
  "PlaceOrderBody.market": {
    summary: "A market order that spends 500 USD",
    value: { market: "ETH-USD", side: "buy", type: "market", quote_size: "500" },
  },
  AmendOrderBody: { value: { size: "0.4" } },
  "Order.pending": { summary: "Accepted, not in the book yet", value: pendingOrder },
  "Order.partially_filled": { summary: "Partly filled", value: partlyFilledOrder },
  "Order.cancelled": {
    summary: "Cancelled",
    value: { ...partlyFilledOrder, state: "cancelled", version: 4 },
  },
  "ChangedOrder.partially_filled": {
    summary: "For a client with `orders:read`",
    value: partlyFilledOrder,
  },
  "ChangedOrder.summary": {
    summary: "For a client without it",
    value: { id: exampleIds.order, object: "order", state: "partially_filled" },
  },
  OrderPage: lastPage(partlyFilledOrder),
  OrderStates: { value: { data: describeOrderStates() } },
};
