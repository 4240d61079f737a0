import { SubscribeToTrades } from "@bursar/protocol";
import type { Refused } from "../../app/requests/refused.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import type { TradeTail } from "./trade-tail.js";

/** The trades of a market: from `since` on, or from now on, in order, without a gap and without a repeat. */
export function createTradesChannel(tails: ReadonlyMap<string, TradeTail>): Channel {
  return {
    name: "trades",
    scope: "orderbook:read",
    schema: SubscribeToTrades,
    subscribe: async (
      { channel, since }: SubscribeToTrades,
      subscriber: Subscriber,
    ): Promise<Subscription | Refused> => {
      const tail = tails.get(channel.slice(channel.indexOf(":") + 1));
      if (tail === undefined) return { refused: "MARKET_NOT_FOUND" };
      const position = await tail.refresh();
      if (since !== undefined && since > position)
        return { refused: "SEQUENCE_AHEAD", message: `The last trade has the sequence ${position}.` };
      const from = since ?? position;
      const pump = pumpTrades(tail, from, subscriber);
      return { answer: { recovered: true, sequence: from }, ...pump };
    },
  };
}

/** Reads what was missed page by page, as fast as the client reads it, and follows the tail once it has reached it. */
function pumpTrades(
  tail: TradeTail,
  from: number,
  subscriber: Subscriber,
): Pick<Subscription, "start" | "stop"> {
  let sequence = from;
  let isStopped = false;
  let unfollow: (() => void) | undefined;

  async function catchUp(): Promise<void> {
    while (!isStopped) {
      if (sequence === tail.position()) {
        // In the same turn of the event loop as the comparison, so that no trade is missed.
        unfollow = tail.follow(subscriber.send);
        return;
      }
      const page = await tail.pageAfter(sequence);
      if (isStopped) return;
      if (page.frames.length > 0) subscriber.send(page.frames);
      sequence = page.last;
      if (!(await subscriber.room())) return;
      // A page can be ahead of the tail, which then catches up.
      if (sequence > tail.position()) await tail.refresh();
    }
  }

  return {
    start: () => void catchUp().catch((error: Error) => subscriber.fail(error)),
    stop: () => {
      isStopped = true;
      unfollow?.();
    },
  };
}
