import { formatPrice, formatSize, parsePrice, type Side, type TradedMarket } from "@bursar/domain";
import type { Principal } from "../app/access/authenticate-request.js";
import type { MarketUseCases } from "../app/markets/market-use-cases.js";
import { isRefused } from "../app/requests/refused.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop, type WakingLoop } from "../runtime/waking-loop.js";
import { type LadderStep, moveMiddle, planLadder } from "./ladder.js";

/**
 * A client like any other that keeps a few orders on both sides of a book, so that a sandbox has something to look at and to trade
 * with. It knows no more than anybody else and uses what the API offers.
 */
export type MarketMaker = Pick<WakingLoop, "start" | "stop">;

export interface MarketMakerDeps {
  market: TradedMarket;
  /** Where the price begins, and stays near. */
  middle: string;
  principal: Principal;
  useCases: Pick<MarketUseCases, "placeOrder" | "cancelOrder" | "listOrders">;
  onError: (error: unknown) => void;
  newUuid: () => string;
  /** From 0 up to 1. */
  random: () => number;
  timers: Pick<Timers, "after">;
}

const lookEveryMs = 3000;
const ordersMax = 200;

export function createMarketMaker(deps: MarketMakerDeps): MarketMaker {
  const { market, principal, useCases, random } = deps;
  const { tenantId } = principal;
  const anchor = parsePrice(deps.middle, market.steps);
  if (typeof anchor === "string") throw new Error(`${deps.middle} is no price of ${market.name}`);
  const start = anchor;
  let middle = start;
  const loop = createWakingLoop({
    step: async () => {
      await refresh();
      return { pauseMs: lookEveryMs };
    },
    onError: deps.onError,
    pauseAfterErrorMs: lookEveryMs,
    timers: deps.timers,
  });

  /** Brings its orders in line with where it wants them now. */
  async function refresh(): Promise<void> {
    middle = moveMiddle(middle, start, random);
    const wanted = new Map(
      planLadder(middle, market.steps.lotsMin, random).map((step) => [nameOf(step.side, step.price), step]),
    );
    for (const order of await listOpen()) {
      const name = nameOf(order.side, order.price ?? 0);
      // What is there stays, with the size that it has; a second order at a price is one too many.
      if (!wanted.delete(name)) await useCases.cancelOrder(tenantId, order.id);
    }
    for (const step of wanted.values()) await place(step);
  }

  async function listOpen() {
    const found = [];
    for (const state of ["pending", "open", "partially_filled"] as const)
      found.push(
        ...(await useCases.listOrders(tenantId, { market: market.name, state }, ordersMax, undefined)),
      );
    return found;
  }

  async function place({ side, price, lots }: LadderStep): Promise<void> {
    const placed = await useCases.placeOrder(principal, `market-maker-${deps.newUuid()}`, {
      market: market.name,
      side,
      price: formatPrice(price, market.steps),
      size: formatSize(lots, market.steps),
      time_in_force: "post_only",
    });
    if (isRefused(placed)) throw new Error(`the market maker was refused: ${placed.refused}`);
  }

  return loop;
}

function nameOf(side: Side, price: number): string {
  return `${side} ${price}`;
}
