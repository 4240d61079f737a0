import type { DeltaMessage, SnapshotMessage } from "@bursar/protocol";
import type { Levels } from "../../app/markets/depth-view.js";
import type { FollowedMarket } from "../../app/markets/followed-market.js";
import type { MarketDelta } from "../../app/markets/market-store.js";
import { textFrame } from "../text-frames.js";

/** The changes of one book as frames, made once for all who follow. */
export interface BookFeed {
  /** Undefined until the book was read for the first time. */
  sequence: () => number | undefined;
  refresh: () => Promise<void>;
  /** Whether the changes after a sequence are still at hand. */
  reachesBackTo: (sequence: number) => boolean;
  /** Sends the changes after a sequence, or a snapshot where there is none or it is too long ago; and then every change. */
  follow: (since: number | undefined, send: (frames: Buffer) => void) => () => void;
}

/** For clients that come back: what some seconds of a busy market hold. */
const framesKeptMax = 4096;
const bytesKeptMax = 8 * 1024 * 1024;

interface KeptFrame {
  previousSequence: number;
  frame: Buffer;
}

export function createBookFeed(market: FollowedMarket): BookFeed {
  const { view } = market;
  const channel = `orderbook:${market.name}`;
  const followers = new Set<(frames: Buffer) => void>();
  let kept: KeptFrame[] = [];
  let keptBytes = 0;

  view.listen((delta) => {
    const levels = view.levels();
    if (levels === undefined) return;
    if (delta === undefined) {
      // The book was read anew: what was kept does not lead to it.
      kept = [];
      keptBytes = 0;
      if (followers.size > 0) tell(snapshotFrame(market, channel, levels));
      return;
    }
    const frame = deltaFrame(market, channel, delta, levels);
    keep({ previousSequence: delta.previousSequence, frame });
    tell(frame);
  });

  function tell(frame: Buffer): void {
    for (const send of followers) send(frame);
  }

  function keep(entry: KeptFrame): void {
    kept.push(entry);
    keptBytes += entry.frame.length;
    // Half of it at a time, so that keeping costs nothing on average.
    if (kept.length <= framesKeptMax && keptBytes <= bytesKeptMax) return;
    kept = kept.slice(kept.length >> 1);
    keptBytes = kept.reduce((sum, { frame }) => sum + frame.length, 0);
  }

  const find = (sequence: number) => kept.findIndex(({ previousSequence }) => previousSequence === sequence);
  const reachesBackTo = (sequence: number) => sequence === view.levels()?.sequence || find(sequence) >= 0;

  return {
    sequence: () => view.levels()?.sequence,
    refresh: view.refresh,
    reachesBackTo,
    follow: (since, send) => {
      const levels = view.levels();
      if (since !== undefined && reachesBackTo(since)) {
        const first = find(since);
        if (first >= 0) send(Buffer.concat(kept.slice(first).map(({ frame }) => frame)));
      } else if (levels !== undefined) send(snapshotFrame(market, channel, levels));
      // In the same turn of the event loop, so that nothing comes between.
      followers.add(send);
      return () => followers.delete(send);
    },
  };
}

function snapshotFrame({ presentBook }: FollowedMarket, channel: string, levels: Levels): Buffer {
  return textFrame(
    JSON.stringify({ type: "snapshot", channel, ...presentBook(levels) } satisfies SnapshotMessage),
  );
}

function deltaFrame(
  { presentDelta }: FollowedMarket,
  channel: string,
  delta: MarketDelta,
  levels: Levels,
): Buffer {
  return textFrame(
    JSON.stringify({ type: "delta", channel, ...presentDelta(delta, levels) } satisfies DeltaMessage),
  );
}
