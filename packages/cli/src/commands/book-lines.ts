import { compare, type Level } from "@bursar/client";
import { safe } from "../terminal/safe-text.js";
import type { Style } from "../terminal/style.js";

interface ShownBook {
  name: string;
  sequence: number;
  bids: readonly Level[];
  asks: readonly Level[];
}

const barMax = 24;

/** An order book as lines: asks above bids, the best prices in the middle, with a bar for each size. */
export function bookLines(
  { name, sequence, bids, asks }: ShownBook,
  style: Style,
  widthMax: number,
): string[] {
  const levels = [...asks, ...bids];
  const priceWidth = Math.max(5, ...levels.map(([price]) => price.length));
  const sizeWidth = Math.max(4, ...levels.map(([, size]) => size.length));
  const barWidth = Math.max(0, Math.min(barMax, widthMax - priceWidth - sizeWidth - 6));
  const largest = levels
    .map(([, size]) => size)
    .reduce((one, other) => (compare(one, other) < 0 ? other : one), "0");
  const line = ([price, size]: Level, paint: (text: string) => string) => {
    // Only the length of a bar, so the precision of a number is enough.
    const share = largest === "0" ? 0 : Number(size) / Number(largest);
    const bar = "█".repeat(Math.max(1, Math.round(share * barWidth)));
    return `${paint(safe(price).padStart(priceWidth))}  ${safe(size).padStart(sizeWidth)}  ${paint(barWidth === 0 ? "" : bar)}`;
  };
  const rule = style.dim("─".repeat(priceWidth + sizeWidth + 2));
  return [
    style.dim(safe(`${name} #${sequence}`)),
    style.dim(`${"price".padStart(priceWidth)}  ${"size".padStart(sizeWidth)}`),
    ...asks.toReversed().map((level) => line(level, style.bad)),
    rule,
    ...bids.map((level) => line(level, style.good)),
  ];
}
