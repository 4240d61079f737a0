import type { PlaceOrderBody } from "@bursar/client";
import { plainly } from "../../ui/values/foreign-text";
import { isSameAmount } from "../../unanswered/same-amount";
import type { UnansweredWords } from "../../unanswered/unanswered-words";

/** How orders without an answer are spoken of, in any market. */
export const orderWords: UnansweredWords<PlaceOrderBody> = {
  noun: "order",
  done: "placed",
  nameOf: nameOfOrder,
  describe: (body) => plainly(nameOfOrder(body)),
  advice: "look at your orders and the trades of this market first",
};

function nameOfOrder({ market, side, size, quote_size, price }: PlaceOrderBody): string {
  const limit = quote_size === undefined ? [] : [`for at most ${quote_size}`];
  const what = [...(size === undefined ? [] : [size]), ...limit].join(" ");
  return `to ${side} ${what} in ${market} ${price === undefined ? "at the market price" : `at ${price}`}`;
}

/** Whether one can be the other, typed again: it has its reference, or trades as much on the same side of the same market. */
export function isAlikeOrder(one: PlaceOrderBody, other: PlaceOrderBody): boolean {
  if (one.reference !== undefined && one.reference === other.reference) return true;
  return (
    one.market === other.market &&
    one.side === other.side &&
    isSameAmount(one.size, other.size) &&
    // With the same size, it is the same purchase for another limit.
    (one.size !== undefined || isSameAmount(one.quote_size, other.quote_size))
  );
}
