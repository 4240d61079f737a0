import type { Market, PlaceOrderBody } from "@bursar/client";
import { Amount } from "../../ui/values/amount";
import type { MarketEstimate } from "./estimate-market-order";

interface OrderProps {
  market: Market;
  body: PlaceOrderBody;
}

/** A market order does not wait for the rest. */
export function TradesInPart({ market, body, estimate }: OrderProps & { estimate: MarketEstimate }) {
  const { size, end } = estimate;
  // What the order meets then is said by itself.
  if (end === "own") return null;
  if (end === "filled" || (end === "spent" && body.size === undefined && estimate.average !== null))
    return null;
  return (
    <p className="notice" data-tone="wait" role="status">
      {end === "book" ? (
        <>
          The book has only <Amount value={size} asset={market.base} /> now.
        </>
      ) : estimate.average === null ? (
        "What it may spend does not pay for the smallest size at the price of the book now."
      ) : (
        <>
          What it may spend pays for <Amount value={size} asset={market.base} /> only at the prices of the
          book now.
        </>
      )}{" "}
      The rest of a market order is cancelled.
    </p>
  );
}

/** The service never trades between two orders of one tenant. Of the two, it cancels the newer one. */
export function MeetsOwnOrder({ market, body, ownPrice }: OrderProps & { ownPrice: string | undefined }) {
  if (ownPrice === undefined || body.time_in_force === "post_only") return null;
  return (
    <p className="notice" data-tone="wait" role="status">
      An order of your own waits at <Amount value={ownPrice} asset={market.quote} />.{" "}
      {body.time_in_force === "fok"
        ? "If this order would reach it, it is cancelled, and nothing is traded."
        : "If this order reaches it, what is left of this order is cancelled. At that price, it trades with older orders of others first."}
    </p>
  );
}

/** What the book does not say. */
export function EstimateNote({ isOwnKnown }: { isOwnKnown: boolean }) {
  return (
    <p className="quiet small">
      The estimate counts at most the 1000 best prices of the book. An order trades with at most 1000 others,
      after which what is left of it is cancelled: the estimate does not count them.
      {!isOwnKnown &&
        " Nor does it know all orders of your own: an order is cancelled when it meets one of them."}
    </p>
  );
}

/** The wallet of the order cannot pay. */
export function FrozenWallet() {
  return (
    <p className="notice" data-tone="bad" role="alert">
      The primary wallet is frozen: its orders are rejected.
    </p>
  );
}

/** A limit is not always a price to wait for. */
export function TradesAtOnce({ market, body, crossed }: OrderProps & { crossed: string | undefined }) {
  if (crossed === undefined) return null;
  return (
    <p className="notice" data-tone="wait" role="status">
      The book {body.side === "buy" ? "sells" : "buys"} at <Amount value={crossed} asset={market.quote} />{" "}
      now. {crossedWords(body.time_in_force)}
    </p>
  );
}

/** The best price says nothing of how much there is at it. */
function crossedWords(timeInForce: PlaceOrderBody["time_in_force"]): string {
  if (timeInForce === "post_only")
    return "This order would trade at once, and is rejected because it is post only.";
  if (timeInForce === "fok")
    return "This order trades at once as a whole, at that price or worse ones within its limit, or not at all.";
  return "This order begins to trade at once, at that price or worse ones within its limit, as far as the book has enough.";
}
