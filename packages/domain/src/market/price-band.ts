import type { Side } from "./order.js";

/**
 * The price band of a market bounds the prices of new orders: around a centre, by a share of it. The centre must follow the market and
 * must not follow a client that wants to sell too low. The last trade alone would: two tenants that work together trade one lot at the
 * edge of the band, then one at the edge of the new band, and so on. So each of the tenants that traded last counts once, with the price
 * of its last trade, and the centre is the median of these prices. Tenants that are missing count with the reference price.
 *
 * It is a fold over the market's trades, without a clock. Prices are in ticks.
 */
export interface PriceBand {
  /** The configured reference price. */
  readonly reference: number;
  /** The tenants that traded last, newest first, each with the price of its last trade. */
  readonly prices: readonly TenantPrice[];
}

type TenantPrice = readonly [tenantId: string, price: number];

/** With five, two tenants that work together cannot move the centre, and three active tenants can. */
const tenantsMax = 5;

/** A band as it was stored. If the reference price was changed since, the band starts again there. */
export function restoreBand(stored: PriceBand | null, reference: number): PriceBand {
  return stored?.reference === reference ? stored : { reference, prices: [] };
}

/** The band after trades, in their order. */
export function bandAfter(
  band: PriceBand,
  trades: readonly { price: number; makerOwner: string; takerOwner: string }[],
): PriceBand {
  if (trades.length === 0) return band;
  let { prices } = band;
  for (const { price, makerOwner, takerOwner } of trades) {
    const others = prices.filter(([tenantId]) => tenantId !== makerOwner && tenantId !== takerOwner);
    const traded: TenantPrice[] = [
      [takerOwner, price],
      [makerOwner, price],
    ];
    prices = [...traded, ...others].slice(0, tenantsMax);
  }
  return { reference: band.reference, prices };
}

export function centreOf({ reference, prices }: PriceBand): number {
  const known = prices.map(([, price]) => price);
  while (known.length < tenantsMax) known.push(reference);
  known.sort((a, b) => a - b);
  return known[(tenantsMax - 1) / 2] as number;
}

/** The lowest and the highest price that an order may have. */
export interface PriceRange {
  min: number;
  max: number;
}

/** At least one tick to each side, or a market with a coarse tick could never move. */
export function priceRange(centre: number, basisPoints: number): PriceRange {
  return {
    min: Math.max(Math.min(below(centre, basisPoints), centre - 1), 1),
    max: Math.min(Math.max(above(centre, basisPoints), centre + 1), Number.MAX_SAFE_INTEGER),
  };
}

/** What the price of a new order is compared with. A best price is undefined if its side of the book is empty. */
export interface MarketPrices {
  range: PriceRange;
  bestBid: number | undefined;
  bestAsk: number | undefined;
  slippageBasisPoints: number;
}

/**
 * Checks an order against the band. An order with a price must have one within it. A market order gets a price limit: it trades no
 * further than its slippage beyond the best price, and never outside the band; if already the best price is outside, it is refused.
 */
export function boundOrder(
  { side, price }: { side: Side; price: number | null },
  { range, bestBid, bestAsk, slippageBasisPoints }: MarketPrices,
): "out_of_band" | { priceLimit: number | null } {
  if (price !== null) return price < range.min || price > range.max ? "out_of_band" : { priceLimit: null };
  if (side === "sell") {
    const limit = bestBid === undefined ? 1 : below(bestBid, slippageBasisPoints);
    return (bestBid ?? range.min) < range.min ? "out_of_band" : { priceLimit: Math.max(limit, range.min) };
  }
  const limit = bestAsk === undefined ? range.max : above(bestAsk, slippageBasisPoints);
  return (bestAsk ?? range.max) > range.max ? "out_of_band" : { priceLimit: Math.min(limit, range.max) };
}

const whole = 10_000n;

/** So much less, rounded up: the bound is never wider than it says. */
function below(price: number, basisPoints: number): number {
  const rest = whole - BigInt(basisPoints);
  return rest <= 0n ? 1 : Math.max(Number((BigInt(price) * rest + whole - 1n) / whole), 1);
}

/** So much more, rounded down. */
function above(price: number, basisPoints: number): number {
  const sum = (BigInt(price) * (whole + BigInt(basisPoints))) / whole;
  return sum > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(sum);
}
