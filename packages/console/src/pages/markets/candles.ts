import type { Trade } from "@bursar/client";

/** The prices of a period, as numbers: they are drawn, and nothing is computed from them. */
export interface Candle {
  startMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
}

export const periods = [
  ["1 minute", 60_000],
  ["5 minutes", 300_000],
  ["1 hour", 3_600_000],
] as const;

/** Candles of trades, oldest first. A period without trades has none. */
export function candlesOf(trades: readonly Trade[], periodMs: number): Candle[] {
  const candles = new Map<number, Candle>();
  const ordered = [...trades].sort((one, other) => one.sequence - other.sequence);
  for (const { occurred_at, price } of ordered) {
    const startMs = Math.floor(Date.parse(occurred_at) / periodMs) * periodMs;
    const value = Number(price);
    const known = candles.get(startMs);
    if (known === undefined)
      candles.set(startMs, { startMs, open: value, high: value, low: value, close: value });
    else {
      known.high = Math.max(known.high, value);
      known.low = Math.min(known.low, value);
      known.close = value;
    }
  }
  return [...candles.values()].sort((one, other) => one.startMs - other.startMs);
}
