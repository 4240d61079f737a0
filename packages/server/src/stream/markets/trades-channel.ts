import { SubscribeToTrades, type TradeMessage } from "@bursar/protocol";
import type { FollowedMarket } from "../../app/markets/market-view.js";
import type { Trade, TradeStore } from "../../app/markets/trade.js";
import type { Refused } from "../../app/requests/refused.js";
import type { BoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import { textFrames } from "../text-frames.js";

/**
 * The trades of a market: from `since` on, or from now on, in order, without a gap and without a repeat. What was missed is read in the turns
 * of the tenant, as the event log is: otherwise the streams of one client would take all connections to the database.
 */
export function createTradesChannel(tails: ReadonlyMap<string, TradeTail>, reads: BoundedGate): Channel {
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
      const pump = pumpTrades(tail, reads, from, subscriber);
      return { answer: { recovered: true, sequence: from }, ...pump };
    },
  };
}

/** Reads what was missed page by page, as fast as the client reads it, and follows the tail once it has reached it. */
function pumpTrades(
  tail: TradeTail,
  reads: BoundedGate,
  from: number,
  subscriber: Subscriber,
): Pick<Subscription, "start" | "stop"> {
  let sequence = from;
  let isStopped = false;
  let unfollow: (() => void) | undefined;
  let leaveLine: (() => void) | undefined;

  /** What was stopped in the meantime reads nothing. */
  const readPage = () =>
    reads.run(
      { key: subscriber.tenantId, member: subscriber.clientId },
      async () => (isStopped ? undefined : await tail.pageAfter(sequence)),
      (leave) => {
        leaveLine = leave;
      },
    );

  async function catchUp(): Promise<void> {
    while (!isStopped) {
      if (sequence === tail.position()) {
        // In the same turn of the event loop as the comparison, so that no trade is missed.
        unfollow = tail.follow(subscriber.send);
        return;
      }
      const end = tail.position();
      const page = await readPage();
      if (isStopped || page === undefined) return;
      if (page === "full") throw new Error("too many streams wait for a page of trades");
      if (page.frames.length > 0) subscriber.send(page.frames);
      // Sequences that a recovery has skipped have no trades.
      sequence = page.frames.length > 0 ? page.last : Math.max(sequence, end);
      if (!(await subscriber.room(page.frames.length))) return;
      // A page can be ahead of the tail, which then catches up.
      if (sequence > tail.position()) await tail.refresh();
    }
  }

  return {
    start: () => void catchUp().catch((error: Error) => subscriber.fail(error)),
    stop: () => {
      isStopped = true;
      unfollow?.();
      leaveLine?.();
    },
  };
}

/** The end of a market's trades, read once for all followers, while there are any. */
export interface TradeTail {
  /** The last trade that was sent to the followers. */
  position: () => number;
  /** Reads new trades, sends them to the followers, and returns the position. */
  refresh: () => Promise<number>;
  /** Trades after a sequence as frames, and the last of them. */
  pageAfter: (sequence: number) => Promise<{ frames: Buffer; last: number }>;
  /** Sends every trade after the position. Returns a function that stops it. */
  follow: (send: (frames: Buffer) => void) => () => void;
}

const pageMax = 500;

export function createTradeTail(
  market: Pick<FollowedMarket, "name" | "presentTrade" | "follow"> & {
    view: Pick<FollowedMarket["view"], "listen">;
  },
  store: Pick<TradeStore, "listTradesAfter" | "lastTrade">,
  onError: (error: unknown) => void,
): TradeTail {
  const channel = `trades:${market.name}`;
  const followers = new Set<(frames: Buffer) => void>();
  let position = 0;
  let reading: Promise<number> | undefined;
  let isAsked = false;

  const toFrames = (trades: readonly Trade[]) =>
    textFrames(
      trades.map((trade) =>
        JSON.stringify({ type: "trade", channel, trade: market.presentTrade(trade) } satisfies TradeMessage),
      ),
    ).all;

  /** Runs one read at a time. A call during a read causes another one, which begins after the call. */
  function refresh(): Promise<number> {
    if (reading !== undefined) {
      isAsked = true;
      return reading;
    }
    reading = read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function read(): Promise<number> {
    do {
      isAsked = false;
      const last = followers.size > 0 ? position : await store.lastTrade(market.name);
      // A follower that was added in the meantime must not miss the trades in between.
      if (followers.size === 0) position = last;
      else await readNew();
    } while (isAsked);
    return position;
  }

  async function readNew(): Promise<void> {
    for (;;) {
      const trades = await store.listTradesAfter(market.name, position, pageMax);
      const last = trades.at(-1);
      if (last === undefined) return;
      position = last.sequence;
      const frames = toFrames(trades);
      for (const send of followers) send(frames);
      if (trades.length < pageMax) return;
    }
  }

  // A trade always changes a level, so this sees all of them. Without followers nothing needs to be read.
  market.view.listen(() => {
    if (followers.size > 0) refresh().catch(onError);
  });

  return {
    position: () => position,
    refresh,
    pageAfter: async (sequence) => {
      const trades = await store.listTradesAfter(market.name, sequence, pageMax);
      return { frames: toFrames(trades), last: trades.at(-1)?.sequence ?? sequence };
    },
    follow: (send) => {
      followers.add(send);
      const leave = market.follow?.();
      // A trade since the position was read has not been sent to anyone yet.
      refresh().catch(onError);
      return () => {
        followers.delete(send);
        leave?.();
      };
    },
  };
}
