import {
  createAssetRegistry,
  createBook,
  createMarketRegistry,
  type Effect,
  type MarketRegistry,
} from "@bursar/domain";
import { expect, it } from "vitest";
import { createLocalBook } from "../../../test/harness/local-book.js";
import type { LevelChangeRow } from "../../app/markets/market-store.js";
import { createMarketView } from "../../app/markets/market-view.js";
import { presentBook, presentDelta } from "../../app/markets/present-book.js";
import { presentTrade } from "../../app/markets/present-trade.js";
import { assetList } from "../../config/asset-list.js";
import { marketList } from "../../config/market-list.js";
import { createSeededRandom } from "../../market/ladder.js";
import { createBookFeed } from "./book-feed.js";

const markets = createMarketRegistry(
  marketList.default,
  createAssetRegistry(assetList.default),
) as MarketRegistry;
const market = markets.get("ETH-USD");
const deltasWanted = 100_000;

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

it("a client that is cut and comes back has the book at every one of 100,000 steps", async () => {
  const random = createSeededRandom(3);
  const whole = (max: number) => Math.floor(random() * max);
  const view = createMarketView({
    market,
    store: {
      readLevels: async () => ({ sequence: 0, changedAt: new Date(0), bids: [], asks: [] }),
      listDeltas: async () => [],
    },
    onError: (error) => {
      throw error;
    },
    nowMs: () => 0,
    timers: { after: () => () => undefined },
  });
  await view.refresh();
  const feed = createBookFeed({
    name: market.name,
    view,
    presentBook: (levels) => presentBook(market, levels, Number.MAX_SAFE_INTEGER),
    presentDelta: (delta, levels) => presentDelta(market, delta, levels),
    presentTrade: (trade) => presentTrade(market, trade),
  });
  const client = createLocalBook();
  const send = (frames: Buffer) => {
    for (const text of readFrames(frames)) client.take(JSON.parse(text));
  };
  let unfollow: (() => void) | undefined = feed.follow(undefined, send);

  const book = createBook();
  const effects: Effect[] = [];
  let sequence = 0;
  for (let count = 0, id = 0; count < deltasWanted; id++) {
    const side = whole(2) === 0 ? "buy" : "sell";
    const price = 3000 + whole(60) - 30 + (side === "buy" ? -6 : 6);
    const common = { id: String(id), owner: String(whole(50)), selfTrade: "cancel_oldest" } as const;
    if (whole(3) === 0) book.apply({ kind: "cancel", id: String(id - 1 - whole(200)) }, effects);
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
    view.advance({
      market: market.name,
      sequence: id + 1,
      previousSequence: sequence,
      changes,
      occurredAt: new Date(id),
    });
    sequence = id + 1;
    count += 1;
    if (whole(50) === 0) {
      unfollow?.();
      unfollow = undefined;
    } else if (unfollow === undefined && whole(20) === 0) unfollow = feed.follow(client.sequence(), send);
  }
  unfollow?.();
  feed.follow(client.sequence(), send);

  expect(client.faults).toEqual([]);
  expect(client.sequence()).toBe(sequence);
  expect(client.counts()).toEqual({ snapshots: 1, deltas: deltasWanted });
  const { bids, asks } = presentBook(market, view.levels() as never, Number.MAX_SAFE_INTEGER);
  expect([client.levels("bids"), client.levels("asks")]).toEqual([bids, asks]);
});
