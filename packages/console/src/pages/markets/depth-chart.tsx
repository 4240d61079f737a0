import type { LiveBook } from "@bursar/client";
import { sumExactly } from "./sum-exactly";

const width = 600;
const height = 160;

/** How much is offered up to each price, on both sides of the best one. */
export function DepthChart({ book, base, quote }: { book: LiveBook; base: string; quote: string }) {
  const bids = nearest(cumulate(book.bids));
  const asks = nearest(cumulate(book.asks));
  const all = [...bids, ...asks];
  if (all.length === 0) return null;
  const low = Math.min(...all.map(({ price }) => price));
  const high = Math.max(...all.map(({ price }) => price));
  // The outermost levels would otherwise be lines without a width.
  const border = (high - low) * 0.03;
  const most = Math.max(...all.map(({ sum }) => sum));
  const mostExact = all.find(({ sum }) => sum === most)?.exact;
  const x = (price: number) =>
    high === low ? width / 2 : ((price - low + border) / (high - low + 2 * border)) * width;
  const y = (sum: number) => height - (sum / most) * (height - 4);
  const area = (side: readonly Point[], edge: number) => {
    const [best] = side;
    if (best === undefined) return "";
    let before = height;
    const steps = side.map(({ price, sum }) => {
      const corner = `L${x(price)} ${before} L${x(price)} ${y(sum)}`;
      before = y(sum);
      return corner;
    });
    return `M${x(best.price)} ${height} ${steps.join(" ")} L${edge} ${before} L${edge} ${height} Z`;
  };
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Depth of the book from ${low} to ${high} ${quote}: bids on the left, asks on the right`}
      >
        <path className="bid" d={area(bids, 0)} />
        <path className="ask" d={area(asks, width)} />
      </svg>
      <figcaption className="quiet small">
        Bids on the left, asks on the right, up to {mostExact} {base}; {low} to {high} {quote}
      </figcaption>
    </figure>
  );
}

interface Point {
  price: number;
  sum: number;
  exact: string;
}

/** As numbers, because they are drawn, and the sum as it is written. */
function cumulate(levels: LiveBook["bids"]): Point[] {
  const sums = sumExactly(levels.map(([, size]) => size));
  return levels.map(([price], index) => {
    const exact = sums[index] ?? "0";
    return { price: Number(price), sum: Number(exact), exact };
  });
}

/** How far from the best price a level is drawn. An order far from it would leave no room for those that are likely to trade. */
const shareShown = 0.05;

function nearest(side: readonly Point[]): readonly Point[] {
  const best = side[0]?.price ?? 0;
  return side.filter(({ price }) => Math.abs(price - best) <= best * shareShown);
}
