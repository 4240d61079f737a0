import { none } from "./book-rows.js";
import type { BookSide } from "./book-side.js";
import type { IncomingOrder } from "./order.js";
import { ownerOf } from "./order-rows.js";
import { seekBest, seekNext } from "./price-index.js";

/**
 * Whether an order would be filled as a whole, with nothing done to the book. Orders of its own owner do not fill it: with
 * `cancel_oldest` they would be taken out of the way, else the order would end at the first of them. Nor does it meet more than
 * `makersMax` of both kinds.
 */
export function isFillable(side: BookSide, incoming: IncomingOrder, makersMax: number): boolean {
  // The sums of levels refuse a hopeless order without a look at single orders: there may be a million of them.
  if (side.lots < incoming.size || lotsWithin(side, incoming) < incoming.size) return false;
  const { rows } = side;
  let missing = incoming.size;
  let met = 0;
  for (let level = seekBest(side.index); level !== none; level = seekNext(side.index)) {
    if (!isWithin(side, level, incoming)) return false;
    for (let row = rows.next[level] as number; row !== level; row = rows.next[row] as number) {
      if (met === makersMax) return false;
      met += 1;
      if (ownerOf(rows, row) !== incoming.owner) missing -= rows.remaining[row >> 1] as number;
      else if (incoming.selfTrade !== "cancel_oldest") return false;
      if (missing <= 0) return true;
    }
  }
  return false;
}

/** What rests at prices that the order takes, counted until it is enough. */
function lotsWithin(side: BookSide, incoming: IncomingOrder): number {
  let lots = 0;
  let level = seekBest(side.index);
  while (level !== none && lots < incoming.size && isWithin(side, level, incoming)) {
    lots += side.rows.lots[level >> 1] as number;
    level = seekNext(side.index);
  }
  return lots;
}

function isWithin(side: BookSide, level: number, { price }: IncomingOrder): boolean {
  return price === undefined || side.sign * (side.rows.price[level >> 1] as number) >= side.sign * price;
}
