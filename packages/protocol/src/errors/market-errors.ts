import type { ErrorEntry } from "./error-entry.js";

/** The errors of markets and orders. */
export const marketErrors = {
  MARKET_NOT_FOUND: {
    status: 404,
    message: "There is no such market.",
    when: "no market of this service has this name",
    advice: "Use one of `GET /v1/markets`.",
    retry: "never",
  },
  ORDER_NOT_FOUND: {
    status: 404,
    message: "There is no such order.",
    when: "the tenant has no order with this id",
    advice: "Check the id.",
    retry: "never",
  },
  ORDER_NOT_OPEN: {
    status: 409,
    message: "The order is over.",
    when: "the order has ended, or is a market order, which cannot be changed",
    advice: "Read the order to see what became of it.",
    retry: "never",
  },
  MARKET_UNKNOWN: {
    status: 422,
    message: "There is no such market.",
    when: "`market` is not one of `GET /v1/markets`",
    advice: "Use one that is listed there.",
    retry: "never",
  },
  PRICE_NOT_IN_TICKS: {
    status: 422,
    message: "The price is not a whole number of ticks.",
    when: "`price` is between two steps of the market, or beyond what a market can hold",
    advice: "See `GET /v1/markets` for the tick size.",
    retry: "never",
  },
  SIZE_NOT_IN_LOTS: {
    status: 422,
    message: "The size is not a whole number of lots.",
    when: "`size` is between two steps of the market, below its minimum, or beyond what a market can hold",
    advice: "See `GET /v1/markets` for the lot size and the minimum.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
