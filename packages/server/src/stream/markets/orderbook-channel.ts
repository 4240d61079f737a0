import { orderbookDepthMax, SubscribeToOrderbook } from "@bursar/protocol";
import type { FollowedMarket } from "../../app/markets/market-view.js";
import type { Refused } from "../../app/requests/refused.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import { createBookFeed } from "./book-feed.js";

/** How many levels of each side are followed: as many as `GET /v1/orderbook` shows at most. */
const depth = orderbookDepthMax;

/** The book of a market: a snapshot, or the changes since the book that the client has, and then every change. */
export function createOrderbookChannel(markets: readonly FollowedMarket[]): Channel {
  const feeds = new Map(markets.map((market) => [market.name, createBookFeed(market, depth)]));
  return {
    name: "orderbook",
    scope: "orderbook:read",
    schema: SubscribeToOrderbook,
    subscribe: async (
      { channel, since }: SubscribeToOrderbook,
      subscriber: Subscriber,
    ): Promise<Subscription | Refused> => {
      const feed = feeds.get(channel.slice(channel.indexOf(":") + 1));
      if (feed === undefined) return { refused: "MARKET_NOT_FOUND" };
      // Another process may have sent the client changes that this one has not read yet.
      if (since !== undefined && since > (feed.sequence() ?? 0)) await feed.refresh();
      const sequence = feed.sequence();
      if (sequence === undefined) return { refused: "UNAVAILABLE" };
      if (since !== undefined && since > sequence)
        return { refused: "SEQUENCE_AHEAD", message: `The last sequence of the book is ${sequence}.` };
      const recovered = since !== undefined && feed.reachesBackTo(since);
      let unfollow: (() => void) | undefined;
      return {
        answer: { recovered: since === undefined || recovered, sequence: recovered ? since : sequence },
        start: () => {
          unfollow = feed.follow(recovered ? since : undefined, subscriber.send);
        },
        stop: () => unfollow?.(),
      };
    },
  };
}
