import type { TradedMarket } from "@bursar/domain";
import type { Timers } from "../../runtime/timers.js";
import { createWakingLoop } from "../../runtime/waking-loop.js";
import { applyLevelChanges, type Levels } from "./depth-view.js";
import type { MarketDelta } from "./market-store.js";

/**
 * A copy of a market's levels in the memory of every process, so that showing them costs no query. The owner's process is told of
 * each change after its commit; all look for changes that they have not heard of.
 */
export interface MarketView {
  /** Undefined until they were read for the first time. */
  levels: () => Levels | undefined;
  /** Whether it could not be confirmed for so long that it may be out of date. */
  isStale: () => boolean;
  /** Takes over a change that was committed. Where one before it is missing it is passed over, and found later. */
  advance: (delta: MarketDelta) => void;
  /** Says that there may be something new. */
  wake: () => void;
  /** Looks for what is new now. */
  refresh: () => Promise<void>;
  /** Called with every change in order, from now on, none left out; undefined where the levels were read anew as a whole. */
  listen: (listener: (delta: MarketDelta | undefined) => void) => () => void;
  start: () => void;
  stop: () => Promise<void>;
}

export interface LevelStore {
  readLevels: (market: string) => Promise<Levels>;
  /** Changes after a sequence, in order; undefined where some of them are gone. */
  listDeltas: (market: string, after: number, limit: number) => Promise<MarketDelta[] | undefined>;
}

export interface MarketViewDeps {
  market: Pick<TradedMarket, "name">;
  store: LevelStore;
  onError: (error: unknown) => void;
  /** A clock that nobody can set back. */
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

const lookEveryMs = 500;
const staleAfterMs = 5000;
const deltasMax = 1000;

export function createMarketView({
  market,
  store,
  onError,
  monotonicMs,
  timers,
}: MarketViewDeps): MarketView {
  const listeners = new Set<(delta: MarketDelta | undefined) => void>();
  let levels: Levels | undefined;
  let confirmedMs = Number.NEGATIVE_INFINITY;
  const loop = createWakingLoop({
    step: async () => ((await look()) ? undefined : { pauseMs: lookEveryMs }),
    onError,
    pauseAfterErrorMs: lookEveryMs,
    timers,
  });

  const tell = (delta: MarketDelta | undefined) => {
    for (const listener of listeners) listener(delta);
  };

  function advance(delta: MarketDelta): void {
    if (levels?.sequence !== delta.previousSequence) return;
    applyLevelChanges(levels, delta.changes);
    levels.sequence = delta.sequence;
    levels.changedAt = delta.occurredAt;
    confirmedMs = monotonicMs();
    tell(delta);
  }

  /** Whether there may be more. */
  async function look(): Promise<boolean> {
    const lookedMs = monotonicMs();
    const deltas = levels && (await store.listDeltas(market.name, levels.sequence, deltasMax));
    if (deltas === undefined) {
      const read = await store.readLevels(market.name);
      // Changes that came meanwhile can have led further than what was read.
      if (levels === undefined || read.sequence >= levels.sequence) {
        levels = read;
        tell(undefined);
      }
    } else for (const delta of deltas) advance(delta);
    confirmedMs = Math.max(confirmedMs, lookedMs);
    return (deltas?.length ?? 0) === deltasMax;
  }

  return {
    levels: () => levels,
    isStale: () => monotonicMs() - confirmedMs > staleAfterMs,
    advance,
    refresh: async () => void (await look()),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: loop.start,
    wake: loop.wake,
    stop: loop.stop,
  };
}
