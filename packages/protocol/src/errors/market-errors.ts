import type { ErrorEntry } from "./error-entry.js";

/** The errors of markets and orders. */
export const marketErrors = {
  MARKET_NOT_FOUND: {
    status: 404,
    message: "Market not found.",
    when: "no market of this service has this name",
    advice: "Use one of `GET /v1/markets`.",
    forPeople: "Choose one of the markets of this service.",
    retry: "never",
  },
  ORDER_NOT_FOUND: {
    status: 404,
    message: "Order not found.",
    when: "the tenant has no order with this id",
    advice: "Check the id.",
    retry: "never",
  },
  ORDER_NOT_OPEN: {
    status: 409,
    message: "The order is not open.",
    when: "the order is final, or is a market order, which cannot be changed",
    advice: "Read the order to see its state.",
    forPeople: "Load the order again to see its state.",
    retry: "never",
  },
  MARKET_UNKNOWN: {
    status: 422,
    message: "Unknown market.",
    when: "`market` is not one of `GET /v1/markets`",
    advice: "Use one that is listed there.",
    forPeople: "Choose one of the markets of this service.",
    retry: "never",
  },
  PRICE_NOT_IN_TICKS: {
    status: 422,
    message: "The price is not a multiple of the tick size.",
    when: "`price` is not a multiple of the tick size, or exceeds the maximum of a market",
    advice: "See `GET /v1/markets` for the tick size.",
    forPeople: "Enter a price that is a multiple of the tick size of the market.",
    retry: "never",
  },
  PRICE_OUT_OF_BAND: {
    status: 422,
    message: "The price is outside the market's price band.",
    when: "`price` is outside the range that the market allows now, or a market order would trade outside it",
    advice: "Use a price from `min` to `max` of `details`; `GET /v1/markets` shows the range too.",
    forPeople: "Enter a price within the range that is named here.",
    retry: "never",
  },
  SIZE_NOT_IN_LOTS: {
    status: 422,
    message: "The size is not a multiple of the lot size.",
    when: "`size` is not a multiple of the lot size, is below the minimum, or exceeds the maximum of a market",
    advice: "See `GET /v1/markets` for the lot size and the minimum.",
    forPeople: "Enter a size that is a multiple of the lot size of the market.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
