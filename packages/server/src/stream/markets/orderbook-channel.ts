import {
  type DeltaMessage,
  orderbookDepthMax,
  type SnapshotMessage,
  SubscribeToOrderbook,
} from "@bursar/protocol";
import { changesOfBest, type Edges, edgesOf } from "../../app/markets/best-levels.js";
import type { FollowedMarket } from "../../app/markets/market-view.js";
import type { Refused } from "../../app/requests/refused.js";
import type { Channel, Subscriber, Subscription } from "../channel.js";
import { textFrame } from "../text-frames.js";

/** How many levels of each side are followed: as many as `GET /v1/orderbook` shows at most. */
const depth = orderbookDepthMax;

/** The book of a market: a snapshot, or the changes since the book that the client has, and then every change. */
export function createOrderbookChannel(markets: readonly FollowedMarket[]): Channel {
  const feeds = new Map(markets.map((market) => [market.name, createBookFeed(market, depth)]));
  const followed = new Map(markets.map((market) => [market.name, market.follow]));
  return {
    name: "orderbook",
    scope: "orderbook:read",
    schema: SubscribeToOrderbook,
    subscribe: async (
      { channel, since }: SubscribeToOrderbook,
      subscriber: Subscriber,
    ): Promise<Subscription | Refused> => {
      const name = channel.slice(channel.indexOf(":") + 1);
      const feed = feeds.get(name);
      if (feed === undefined) return { refused: "MARKET_NOT_FOUND" };
      // Another process may have sent the client changes that this one has not read yet.
      if (since !== undefined && since > (feed.sequence() ?? 0)) await feed.refresh();
      const sequence = feed.sequence();
      if (sequence === undefined) return { refused: "UNAVAILABLE" };
      if (since !== undefined && since > sequence)
        return { refused: "SEQUENCE_AHEAD", message: `The last sequence of the book is ${sequence}.` };
      const recovered = since !== undefined && feed.reachesBackTo(since);
      let unfollow: (() => void) | undefined;
      let leave: (() => void) | undefined;
      return {
        answer: { recovered: since === undefined || recovered, sequence: recovered ? since : sequence },
        start: () => {
          unfollow = feed.follow(recovered ? since : undefined, subscriber.send);
          leave = followed.get(name)?.();
        },
        stop: () => {
          unfollow?.();
          leave?.();
        },
      };
    },
  };
}

/** The changes of the best levels of one book as frames, made once for all who follow. */
interface BookFeed {
  /** Undefined until the book was read for the first time. */
  sequence: () => number | undefined;
  refresh: () => Promise<void>;
  /** Whether the changes after a sequence are still kept. */
  reachesBackTo: (sequence: number) => boolean;
  /** Sends the changes after a sequence, or a snapshot if there is no sequence or it is too old; and then every change. */
  follow: (since: number | undefined, send: (frames: Buffer) => void) => () => void;
}

/**
 * For clients that come back: what some seconds of a busy market hold. It is sent in one go, so it must be well below what may wait for
 * a reader; a snapshot is not much larger.
 */
const framesKeptMax = 4096;
const bytesKeptMax = 256 * 1024;

interface KeptFrame {
  previousSequence: number;
  frame: Buffer;
}

export function createBookFeed(market: FollowedMarket, depth: number): BookFeed {
  const { view } = market;
  const channel = `orderbook:${market.name}`;
  const followers = new Set<(frames: Buffer) => void>();
  let kept: KeptFrame[] = [];
  let keptBytes = 0;
  let edges = currentEdges();
  /** The book as it is now, if somebody has asked for it: a client that subscribes again and again must not have it made each time. */
  let rendered: Buffer | undefined;

  view.listen((delta) => {
    rendered = undefined;
    const levels = view.levels();
    const before = edges;
    edges = currentEdges();
    if (delta === undefined || before === undefined || levels === undefined) {
      // The book was dropped or read again: the kept changes do not lead to it.
      kept = [];
      keptBytes = 0;
      if (followers.size > 0 && levels !== undefined) broadcast(snapshot());
      return;
    }
    const shown = { ...delta, changes: changesOfBest(levels, delta.changes, before, depth) };
    const message = { type: "delta", channel, ...market.presentDelta(shown, levels) } satisfies DeltaMessage;
    const frame = textFrame(JSON.stringify(message));
    keep({ previousSequence: delta.previousSequence, frame });
    broadcast(frame);
  });

  function currentEdges(): Edges | undefined {
    const levels = view.levels();
    return levels && edgesOf(levels, depth);
  }

  function snapshot(): Buffer {
    rendered ??= render();
    return rendered;
  }

  function render(): Buffer {
    const levels = view.levels();
    if (levels === undefined) throw new Error("the book was not read yet");
    const message = {
      type: "snapshot",
      channel,
      ...market.presentBook(levels, depth),
    } satisfies SnapshotMessage;
    return textFrame(JSON.stringify(message));
  }

  function broadcast(frame: Buffer): void {
    for (const send of followers) send(frame);
  }

  function keep(entry: KeptFrame): void {
    kept.push(entry);
    keptBytes += entry.frame.length;
    // Half of it at a time, so that keeping costs nothing on average.
    while (kept.length > framesKeptMax || keptBytes > bytesKeptMax) {
      kept = kept.slice(Math.ceil(kept.length / 2));
      keptBytes = kept.reduce((sum, { frame: { length } }) => sum + length, 0);
    }
  }

  const find = (sequence: number) => kept.findIndex(({ previousSequence }) => previousSequence === sequence);
  const reachesBackTo = (sequence: number) => sequence === view.levels()?.sequence || find(sequence) >= 0;

  return {
    sequence: () => view.levels()?.sequence,
    refresh: view.refresh,
    reachesBackTo,
    follow: (since, send) => {
      if (since !== undefined && reachesBackTo(since)) {
        const first = find(since);
        if (first >= 0) send(Buffer.concat(kept.slice(first).map(({ frame }) => frame)));
      } else send(snapshot());
      // In the same turn of the event loop, so that no change is missed.
      followers.add(send);
      return () => followers.delete(send);
    },
  };
}
