import {
  createAssetRegistry,
  createBook,
  createMarketRegistry,
  type Effect,
  type MarketRegistry,
} from "@bursar/domain";
import { expect, it } from "vitest";
import { createLocalBook } from "../../../test/harness/markets/local-book.js";
import type { LevelChangeRow } from "../../app/markets/market-store.js";
import { createMarketView } from "../../app/markets/market-view.js";
import { presentBook, presentDelta } from "../../app/markets/present-book.js";
import { presentTrade } from "../../app/markets/trade.js";
import { assetList } from "../../config/asset-list.js";
import { sandboxMarkets } from "../../config/market-list.js";
import { createSeededRandom } from "../../markets/quotes.js";
import { createBookFeed } from "./orderbook-channel.js";

const markets = createMarketRegistry(
  sandboxMarkets,
  createAssetRegistry(assetList.default),
) as MarketRegistry;
const market = markets.get("ETH-USD");
const deltasWanted = 10_000;

/** The texts of frames, one after the other. */
function* readFrames(frames: Buffer): Generator<string> {
  for (let offset = 0; offset < frames.length; ) {
    const short = frames[offset + 1] ?? 0;
    const [header, length] =
      short < 126
        ? [2, short]
        : short === 126
          ? [4, frames.readUInt16BE(offset + 2)]
          : [10, Number(frames.readBigUInt64BE(offset + 2))];
    yield frames.toString("utf8", offset + header, offset + header + length);
    offset += header + length;
  }
}

/** A book that a test changes, and the feed of its best levels. */
async function createFedBook(depth: number) {
  const view = createMarketView({
    market,
    store: {
      readLevels: async () => ({
        levels: { sequence: 0, changedAt: new Date(0), bids: [], asks: [] },
        band: null,
      }),
      listDeltas: async () => [],
    },
    onError: (error) => {
      throw error;
    },
    isNotified: () => true,
    monotonicMs: () => 0,
    timers: { after: () => () => undefined },
  });
  await view.refresh();
  const feed = createBookFeed(
    {
      name: market.name,
      view,
      presentBook: (levels, shown) => presentBook(market, levels, shown),
      presentDelta: (delta, levels) => presentDelta(market, delta, levels),
      presentTrade: (trade) => presentTrade(market, trade),
    },
    depth,
  );
  const sequence = () => view.levels()?.sequence ?? 0;
  return {
    feed,
    sequence,
    change: (changes: readonly LevelChangeRow[]) =>
      view.advance({
        market: market.name,
        sequence: sequence() + 1,
        previousSequence: sequence(),
        changes,
        centre: null,
        occurredAt: new Date(sequence()),
      }),
    best: () => {
      const { bids, asks } = presentBook(market, view.levels() as never, depth);
      return [bids, asks];
    },
  };
}

function createClient() {
  const book = createLocalBook();
  return {
    ...book,
    both: () => [book.levels("bids"), book.levels("asks")],
    send: (frames: Buffer) => {
      for (const text of readFrames(frames)) book.take(JSON.parse(text));
    },
  };
}

it.each([1000, 20])(
  "a client that is cut and comes back has the best %i levels after each of 10,000 changes",
  async (depth) => {
    const random = createSeededRandom(3);
    const whole = (max: number) => Math.floor(random() * max);
    const fed = await createFedBook(depth);
    const client = createClient();
    let unfollow: (() => void) | undefined = fed.feed.follow(undefined, client.send);

    const book = createBook();
    const effects: Effect[] = [];
    for (let count = 0, number = 1; count < deltasWanted; number++) {
      const side = whole(2) === 0 ? "buy" : "sell";
      const price = 3000 + whole(60) - 30 + (side === "buy" ? -6 : 6);
      const named = (which: number) => ({ number: which, id: String(which) });
      const common = { ...named(number), owner: String(whole(50)), selfTrade: "cancel_oldest" } as const;
      if (whole(3) === 0) book.apply({ kind: "cancel", ...named(number - 1 - whole(200)) }, effects);
      else
        book.apply(
          { kind: "place_limit", ...common, side, price, size: 1 + whole(100), timeInForce: "gtc" },
          effects,
        );
      effects.length = 0;
      const changes = book
        .takeLevelChanges()
        .map(({ side: its, price: at, size, orderCount }): LevelChangeRow => [its, at, size, orderCount]);
      if (changes.length === 0) continue;
      fed.change(changes);
      count += 1;
      if (count % 100 === 0 && unfollow !== undefined) expect(client.both()).toEqual(fed.best());
      if (whole(50) === 0) {
        unfollow?.();
        unfollow = undefined;
      } else if (unfollow === undefined && whole(20) === 0)
        unfollow = fed.feed.follow(client.sequence(), client.send);
    }
    unfollow?.();
    fed.feed.follow(client.sequence(), client.send);

    expect(client.faults).toEqual([]);
    expect(client.sequence()).toBe(fed.sequence());
    expect(client.counts()).toEqual({ snapshots: 1, deltas: deltasWanted });
    expect(client.both()).toEqual(fed.best());
  },
);

it("nothing that is sent at once is large, however deep the book and however much of it changes", async () => {
  const fed = await createFedBook(1000);
  const levels = (size: number) =>
    Array.from({ length: 50_000 }, (_, index): LevelChangeRow => ["buy", 100_000 - index, size, 1]);
  fed.change(levels(7));
  const client = createClient();
  const sizes: number[] = [];
  const send = (frames: Buffer) => {
    sizes.push(frames.length);
    client.send(frames);
  };
  let unfollow = fed.feed.follow(undefined, send);
  // All of it changes, and then its better half is gone at once.
  fed.change(levels(8));
  fed.change(levels(0).slice(0, 25_000));
  expect([client.faults, client.both()]).toEqual([[], fed.best()]);
  // A client that has missed more than is kept gets a snapshot instead.
  unfollow();
  const missed = client.sequence();
  for (let round = 0; round < 20; round++) fed.change(levels(round + 1).slice(25_000));
  expect(fed.feed.reachesBackTo(missed ?? 0)).toBe(false);
  unfollow = fed.feed.follow(missed, send);
  unfollow();
  const recent = fed.sequence() - 2;
  expect(fed.feed.reachesBackTo(recent)).toBe(true);
  fed.feed.follow(recent, (frames) => sizes.push(frames.length));
  expect([client.counts().snapshots, client.both()]).toEqual([2, fed.best()]);
  expect(Math.max(...sizes)).toBeLessThan(256 * 1024);
});

it("the changes that are kept for clients that come back keep no memory beside their own", async () => {
  const fed = await createFedBook(20);
  const frames: Buffer[] = [];
  fed.feed.follow(fed.sequence(), (frame) => frames.push(frame));
  for (let round = 1; round <= 50; round++) fed.change([["buy", 100, round, 1]]);
  expect(frames).toHaveLength(50);
  expect(frames.filter(({ buffer, length }) => buffer.byteLength !== length)).toEqual([]);
});

it("a book is made once for all who ask for it, until it changes", async () => {
  const fed = await createFedBook(20);
  const snapshots: Buffer[] = [];
  const ask = () => fed.feed.follow(undefined, (frame) => snapshots.push(frame))();
  for (let times = 0; times < 3; times++) ask();
  fed.change([["buy", 100, 7, 1]]);
  ask();
  const [first, second, third, changed] = snapshots;
  expect(second).toBe(first);
  expect(third).toBe(first);
  expect(changed?.includes('"sequence":1')).toBe(true);
});
