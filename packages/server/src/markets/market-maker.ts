import { formatPrice, formatSize, type Side, type TradedMarket } from "@bursar/domain";
import type { Principal } from "../app/access/authenticate-request.js";
import type { ClientOrigin } from "../app/audit/audit-entry.js";
import type { OrderStore } from "../app/markets/order.js";
import type { OrderChanges } from "../app/markets/order-changes.js";
import type { PlaceOrder } from "../app/markets/place-order.js";
import { isRefused } from "../app/requests/refused.js";
import type { Timers } from "../runtime/loops/timers.js";
import { createWakingLoop, type WakingLoop } from "../runtime/loops/waking-loop.js";
import { moveMidPrice, planQuotes, type Quote } from "./quotes.js";

/**
 * A client like any other that keeps quotes on both sides of a book, so that a sandbox has something to look at and to trade with. It
 * uses the same use cases as the API.
 */
export type MarketMaker = Pick<WakingLoop, "start" | "wake" | "stop">;

export interface MarketMakerDeps {
  market: TradedMarket;
  principal: Principal;
  useCases: {
    placeOrder: PlaceOrder;
    cancelOrder: OrderChanges["cancelOrder"];
    listOrders: OrderStore["listOrders"];
  };
  /** Whether any client looks at the markets or trades in them. Without one the quotes stay as they are. */
  hasAudience: () => boolean;
  onError: (error: unknown) => void;
  newUuid: () => string;
  /** In [0, 1). */
  random: () => number;
  timers: Pick<Timers, "after">;
}

const refreshEveryMs = 3000;
/** It is woken when a client looks again. */
const idlePauseMs = 60_000;
const ordersMax = 200;

export function createMarketMaker(deps: MarketMakerDeps): MarketMaker {
  const { market, principal, useCases, random } = deps;
  const { tenantId } = principal;
  const origin: ClientOrigin = { by: "client", principal, requestId: "", address: "" };
  /** The mid-price begins at the reference price, and stays near. */
  const { referencePrice: start } = market;
  let midPrice = start;
  /** Whether the book was filled since the start. */
  let hasQuotes = false;
  const loop = createWakingLoop({
    step: async () => {
      if (hasQuotes && !deps.hasAudience()) return { pauseMs: idlePauseMs };
      await refresh();
      hasQuotes = true;
      return { pauseMs: refreshEveryMs };
    },
    onError: deps.onError,
    pauseAfterErrorMs: refreshEveryMs,
    timers: deps.timers,
  });

  /** Cancels orders that it does not want any more and places those that are missing. */
  async function refresh(): Promise<void> {
    midPrice = moveMidPrice(midPrice, start, random);
    const wanted = new Map(
      planQuotes(midPrice, market.steps.lotsMin, random).map((quote) => [
        nameOf(quote.side, quote.price),
        quote,
      ]),
    );
    for (const order of await listOpen()) {
      const name = nameOf(order.side, order.price ?? 0);
      // An order at a wanted price stays, with the size that it has; a second one at that price is cancelled.
      if (!wanted.delete(name)) await useCases.cancelOrder(origin, order.id);
    }
    for (const quote of wanted.values()) await place(quote);
  }

  async function listOpen() {
    const found = [];
    for (const state of ["pending", "open", "partially_filled"] as const)
      found.push(
        ...(await useCases.listOrders(tenantId, { market: market.name, state }, ordersMax, undefined)).items,
      );
    return found;
  }

  async function place({ side, price, lots }: Quote): Promise<void> {
    const placed = await useCases.placeOrder(principal, `market-maker-${deps.newUuid()}`, {
      market: market.name,
      side,
      price: formatPrice(price, market.steps),
      size: formatSize(lots, market.steps),
      time_in_force: "post_only",
    });
    // Others can have moved the price band away from its quotes.
    if (isRefused(placed) && placed.refused !== "PRICE_OUT_OF_BAND")
      throw new Error(`the market maker was refused: ${placed.refused}`);
  }

  return loop;
}

function nameOf(side: Side, price: number): string {
  return `${side} ${price}`;
}
