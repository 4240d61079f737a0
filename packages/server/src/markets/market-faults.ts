import { haltOfMarket } from "../app/markets/market-halt.js";
import {
  type MarketHalt,
  MarketMovedError,
  StoppedOrderError,
  TamperedOrderError,
} from "../app/markets/market-store.js";
import { LeaseLostError } from "../runtime/loops/lease.js";

/**
 * Counts errors of a market between which nothing was done. Commands are executed in ever smaller batches then, so that those before the one
 * at fault are done. If it still fails, no order is known to be at fault: the market halts until an operator has looked at it, because a
 * retry every half second would neither repair it nor be noticed.
 */
export interface MarketFaults {
  add: (error: unknown) => void;
  /** A step was done. */
  clear: () => void;
  /** How many commands are executed together. */
  batchMax: () => number;
  /** Whether commands are executed one by one, so that this error is about one of them. Not if the next load deals with it. */
  isOfOneCommand: (error: unknown) => boolean;
  /** Undefined if the market need not halt. */
  halt: () => MarketHalt | undefined;
}

/** A fault that was repaired in the meantime is not counted: each is half a second after the one before. */
const faultsMax = 5;
const batchSizes = [256, 16, 1] as const;

export function createMarketFaults(
  market: string,
  isUnavailable: (error: unknown) => boolean,
  now: () => number,
): MarketFaults {
  let errors: unknown[] = [];
  const batchMax = () => batchSizes[Math.min(errors.length, batchSizes.length - 1)] ?? 1;
  return {
    add: (error) => {
      const isOther =
        error instanceof LeaseLostError ||
        error instanceof MarketMovedError ||
        error instanceof StoppedOrderError;
      if (!isOther && !isUnavailable(error)) errors.push(error);
    },
    clear: () => {
      if (errors.length > 0) errors = [];
    },
    batchMax,
    isOfOneCommand: (error) =>
      batchMax() === 1 &&
      !isUnavailable(error) &&
      !(error instanceof TamperedOrderError || error instanceof StoppedOrderError),
    halt: () =>
      errors.length < faultsMax ? undefined : haltOfMarket(market, errors.at(-1), new Date(now())),
  };
}
