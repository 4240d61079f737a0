import type { MarketRegistry } from "@bursar/domain";
import type { Orderbook } from "@bursar/protocol";
import type { Refused } from "../requests/refused.js";
import type { MarketView } from "./market-view.js";
import { presentBook } from "./present-book.js";

/** A snapshot as it is sent. Its bytes are rendered once for each market and depth, and reused until something has changed. */
interface Snapshot {
  json: Buffer;
  tag: string;
}

export type ShowOrderbook = (market: string | undefined, depth: number) => Snapshot | Refused;

/** Clients choose the depth; snapshots of this many depths are kept for each market. */
const depthsKeptMax = 16;

export function createOrderbookSnapshots(
  markets: MarketRegistry,
  views: ReadonlyMap<string, MarketView>,
  epochSuffix: () => string,
): ShowOrderbook {
  const [first] = markets.list;
  const shown = new Map(markets.list.map(({ name }) => [name, new Map<number, Kept>()]));
  return (name, depth) => {
    const market = name === undefined ? first : markets.find(name);
    if (market === undefined) return { refused: "MARKET_NOT_FOUND" };
    const view = views.get(market.name);
    const levels = view?.levels();
    // Right after the start the levels have not been read yet.
    if (view === undefined || levels === undefined) return { refused: "UNAVAILABLE" };
    const kept = shown.get(market.name) as Map<number, Kept>;
    const isStale = view.isStale();
    const known = kept.get(depth);
    const { sequence } = levels;
    const epoch = epochSuffix();
    if (known?.sequence === sequence && known.isStale === isStale && known.epoch === epoch) return known;
    const body: Orderbook = { ...presentBook(market, levels, depth), stale: isStale };
    const json = Buffer.from(JSON.stringify(body));
    const made = {
      json,
      tag: `W/"${market.name}-${sequence}-${depth}${isStale ? "-stale" : ""}${epoch}"`,
      sequence,
      epoch,
      isStale,
    };
    if (!kept.has(depth) && kept.size >= depthsKeptMax) kept.delete(kept.keys().next().value as number);
    kept.set(depth, made);
    return made;
  };
}

interface Kept extends Snapshot {
  sequence: number;
  isStale: boolean;
  epoch: string;
}
