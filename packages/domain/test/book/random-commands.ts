import type { BookCommand, SelfTrade, Side, TimeInForce } from "@bursar/domain";

/** What a run is like: how prices and sizes lie, and how many orders may rest. */
export interface Climate {
  name: string;
  prices: [least: number, most: number];
  /** How much of the range of prices a side uses, from its far end: with 1 all of it, with little more than a half few orders meet. */
  reach: number;
  sizes: [least: number, most: number];
  ordersMax: number;
  /** How many resting orders one may meet. */
  makersMax: number;
  /** The whole depth is compared once in so many commands: that costs as much as the book is large. */
  depthEvery: number;
  /** The share of orders among the commands. */
  orderShare: number;
}

export const climates: readonly Climate[] = [
  {
    name: "crowded",
    prices: [95, 105],
    reach: 1,
    sizes: [1, 20],
    ordersMax: 60,
    makersMax: 5,
    depthEvery: 5,
    orderShare: 0.7,
  },
  {
    name: "calm",
    prices: [1, 200],
    reach: 0.7,
    sizes: [1, 50],
    ordersMax: 400,
    makersMax: 1000,
    depthEvery: 20,
    orderShare: 0.6,
  },
  {
    name: "wide",
    prices: [1, 100_000],
    reach: 0.51,
    sizes: [1, 10],
    ordersMax: 1000,
    makersMax: 1000,
    depthEvery: 60,
    orderShare: 0.8,
  },
  {
    name: "huge",
    prices: [2 ** 53 - 10, 2 ** 53 - 1],
    reach: 1,
    sizes: [2 ** 48, 2 ** 51],
    ordersMax: 100,
    makersMax: 8,
    depthEvery: 5,
    orderShare: 0.7,
  },
];

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Numbers soon pass the bound at which even a block of them is more than a word of 32 bits holds. */
const firstNumber = 2 ** 37 - 100;

/** Commands without end. Cancels and amendments hit open, finished and unknown orders. */
export function createCommandSource(climate: Climate, random: () => number): () => BookCommand {
  const sizes = new Map<string, number>();
  const ids: string[] = [];
  const between = ([least, most]: [number, number]) => least + Math.floor(random() * (most - least + 1));
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const owners = ["ada", "bob", "cyd", "dan", "eve"];
  const selfTrades: SelfTrade[] = ["cancel_newest", "cancel_oldest", "cancel_both"];
  const lives: TimeInForce[] = ["gtc", "gtc", "gtc", "gtc", "ioc", "fok", "post_only", "post_only"];

  const priceFor = (side: Side) => {
    const [least, most] = climate.prices;
    const used = Math.floor((most - least) * climate.reach);
    return side === "buy" ? between([least, least + used]) : between([most - used, most]);
  };

  const place = (): BookCommand => {
    const number = firstNumber + ids.length;
    const id = `order-${number}`;
    const size = between(climate.sizes);
    ids.push(id);
    sizes.set(id, size);
    const side: Side = pick(["buy", "sell"]);
    const order = { number, id, owner: pick(owners), side, size, selfTrade: pick(selfTrades) };
    if (random() > 0.12)
      return { kind: "place_limit", ...order, price: priceFor(side), timeInForce: pick(lives) };
    const bounded = random() < 0.5 ? {} : { priceLimit: between(climate.prices) };
    if (side === "sell" || random() < 0.4) return { kind: "place_market", ...order, ...bounded };
    // Around what the order would cost, so that the limit is sometimes met, sometimes not, and sometimes buys nothing.
    const cost = BigInt(size) * BigInt(between(climate.prices));
    return {
      kind: "place_market",
      ...order,
      ...bounded,
      quoteMax: (cost * BigInt(Math.floor(random() * 1200))) / 1000n,
    };
  };
  /** Mostly recent orders, which are more likely to be open. */
  const known = () => Math.max(0, ids.length - 1 - Math.floor(random() ** 2 * climate.ordersMax * 2));

  return () => {
    if (ids.length === 0 || random() < climate.orderShare) return place();
    const at = random() < 0.02 ? -1 : known();
    const order = { number: firstNumber + at, id: ids[at] ?? "nobody" };
    if (random() < 0.6) return { kind: "cancel", ...order };
    const size = Math.max(1, Math.floor((sizes.get(order.id) ?? 10) * random() * 1.1));
    return { kind: "amend", ...order, size };
  };
}
