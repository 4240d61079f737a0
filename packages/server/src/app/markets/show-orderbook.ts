import type { MarketRegistry, TradedMarket } from "@bursar/domain";
import type { Orderbook } from "@bursar/protocol";
import { createDatabaseConfirmer } from "../../runtime/database/confirm-database.js";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import type { Timers } from "../../runtime/loops/timers.js";
import type { Refused } from "../requests/refused.js";
import type { MarketView } from "./market-view.js";
import { presentBook } from "./present-book.js";

/** A snapshot as it is sent. Its bytes are rendered once for each market and depth, and reused until something has changed. */
interface Snapshot {
  json: Buffer;
  tag: string;
}

/** From memory; the database is asked first only if it has not answered anything just now, as when the service rests. */
export type ShowOrderbook = (
  market: string | undefined,
  depth: number,
) => Promise<Snapshot | Refused> | Snapshot | Refused;

export interface ShowOrderbookDeps {
  markets: MarketRegistry;
  views: ReadonlyMap<string, MarketView>;
  epochSuffix: () => string;
  identity: Pick<DatabaseIdentity, "hasAnsweredNow">;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** For how long a request waits until the book is confirmed. Then it is shown as stale. */
const confirmMaxMs = 1000;

/** Clients choose the depth; snapshots of this many depths are kept for each market. */
const depthsKeptMax = 16;

export function createOrderbookSnapshots({
  markets,
  views,
  epochSuffix,
  identity,
  monotonicMs,
  timers,
}: ShowOrderbookDeps): ShowOrderbook {
  const [first] = markets.list;
  const shown = new Map(markets.list.map(({ name }) => [name, new Map<number, Kept>()]));
  // A book is confirmed by looking for changes of it, which it may have missed too.
  const confirmers = new Map(
    [...views].map(([name, view]) => [
      name,
      createDatabaseConfirmer({ identity, ask: view.refresh, monotonicMs }),
    ]),
  );

  function show(market: TradedMarket, view: MarketView, depth: number, isConfirmed: boolean) {
    const levels = view.levels();
    // Right after the start the levels have not been read yet.
    if (levels === undefined) return { refused: "UNAVAILABLE" } as const;
    const kept = shown.get(market.name) as Map<number, Kept>;
    const isStale = !isConfirmed || view.isStale();
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
  }

  // Not an async function: a book that is known is shown without a turn of the event loop.
  return (name, depth) => {
    const market = name === undefined ? first : markets.find(name);
    if (market === undefined) return { refused: "MARKET_NOT_FOUND" };
    const [view, confirm] = [views.get(market.name), confirmers.get(market.name)];
    if (view === undefined || confirm === undefined) return { refused: "UNAVAILABLE" };
    if (identity.hasAnsweredNow()) return show(market, view, depth, true);
    return within(confirmMaxMs, confirm(), timers).then((isConfirmed) =>
      show(market, view, depth, isConfirmed),
    );
  };
}

/** Resolves when it is known whether the work succeeds, or with false if that takes too long. */
function within(timeoutMs: number, work: Promise<boolean>, timers: Pick<Timers, "after">): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = timers.after(timeoutMs, () => resolve(false));
    void work.then((isDone) => {
      cancel();
      resolve(isDone);
    });
  });
}

interface Kept extends Snapshot {
  sequence: number;
  isStale: boolean;
  epoch: string;
}
