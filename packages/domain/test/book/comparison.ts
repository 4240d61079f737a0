import {
  type Book,
  type BookCommand,
  createBook,
  type DepthLevel,
  type Effect,
  type OrderState,
  orderEventsOf,
  orderStates,
  orderTransitions,
  restoreBook,
  type Side,
} from "@bursar/domain";
import { applyToReference, type ReferenceBook } from "../../src/book/reference-book.js";
import { type Climate, createCommandSource, createRandom } from "./random-commands.js";

const everything = Number.MAX_SAFE_INTEGER;

/** What happened in a run, so that a test can see that all of it was exercised. */
export type Tally = Map<string, number>;

/**
 * Runs random commands on the book and on the reference, and throws at the first difference. Now and then the book is thrown away
 * and made anew of its open orders; the run goes on with that one.
 */
export function compareWithReference(climate: Climate, seed: number, count: number, tally: Tally): void {
  const random = createRandom(seed);
  const nextCommand = createCommandSource(climate, random);
  const { ordersMax, makersMax } = climate;
  const reference: ReferenceBook = { orders: [], ordersMax, makersMax };
  const lives = createLives();
  const mirror = createMirror();
  let book = createBook({ ordersMax, makersMax });
  for (let number = 0; number < count; number++) {
    const command = nextCommand();
    const at = `${climate.name}, seed ${seed}, command ${number}`;
    const effects: Effect[] = [];
    book.apply(command, effects);
    assertSame(`${at}: effects of ${show(command)}`, effects, applyToReference(reference, command));
    lives.follow(at, command, effects);
    for (const effect of effects) count1(tally, "reason" in effect ? effect.reason : effect.kind);
    if (random() * climate.depthEvery < 1) mirror.follow(at, book);
    if (number % climate.depthEvery === 0) assertDepth(at, book, reference);
    if (number % 101 === 0) book = assertRestored(at, book, reference, mirror);
  }
  assertDepth("at the end", book, reference);
  lives.settle(book);
}

/** The depth is the sum of the orders, best first, and the sides do not cross. */
function assertDepth(at: string, book: Book, { orders }: ReferenceBook): void {
  const sideLevels = (side: Side): DepthLevel[] => {
    const levels = new Map<bigint, { size: bigint; orderCount: number }>();
    for (const order of orders.filter((one) => one.side === side)) {
      const { size, orderCount } = levels.get(order.price) ?? { size: 0n, orderCount: 0 };
      levels.set(order.price, { size: size + order.remaining, orderCount: orderCount + 1 });
    }
    return [...levels]
      .sort(([a], [b]) => Number(side === "buy" ? b - a : a - b))
      .map(([price, { size, orderCount }]) => ({ price: Number(price), size: Number(size), orderCount }));
  };
  const depth = book.depth(everything);
  assertSame(`${at}: depth`, depth, { bids: sideLevels("buy"), asks: sideLevels("sell") });
  assertSame(`${at}: top of the depth`, book.depth(3), {
    bids: depth.bids.slice(0, 3),
    asks: depth.asks.slice(0, 3),
  });
  const [bid, ask] = [depth.bids[0], depth.asks[0]];
  if (bid !== undefined && ask !== undefined && bid.price >= ask.price) throw new Error(`${at}: crossed`);
  if (book.orderCount() !== orders.length) throw new Error(`${at}: the count of orders is wrong`);
}

/** A book made of the reference's orders is the book, to the last byte. */
function assertRestored(
  at: string,
  book: Book,
  reference: ReferenceBook,
  mirror: ReturnType<typeof createMirror>,
): Book {
  mirror.follow(at, book);
  const arrived = reference.orders.map((order) => ({
    ...order,
    price: Number(order.price),
    size: Number(order.size),
    remaining: Number(order.remaining),
  }));
  for (const order of arrived) assertSame(`${at}: found order`, book.find(order.number), order);
  const restored = restoreBook(arrived, reference);
  assertSame(`${at}: restored`, restored.openOrders(), book.openOrders());
  assertSame(`${at}: restored twice`, restoreBook(book.openOrders()).openOrders(), book.openOrders());
  if (restored.fingerprint() !== book.fingerprint()) throw new Error(`${at}: another fingerprint`);
  if (restored.takeLevelChanges().length > 0) throw new Error(`${at}: a restored book has changes`);
  return restored;
}

/** A reader that knows the depth only from the changes of levels. */
function createMirror() {
  const sides = { buy: new Map<number, DepthLevel>(), sell: new Map<number, DepthLevel>() };
  const sorted = (side: Side) =>
    [...sides[side].values()].sort((a, b) => (side === "buy" ? b.price - a.price : a.price - b.price));
  return {
    follow: (at: string, book: Book) => {
      for (const { side, ...level } of book.takeLevelChanges()) {
        if (level.size === 0) sides[side].delete(level.price);
        else sides[side].set(level.price, level);
      }
      assertSame(
        `${at}: the depth by changes`,
        { bids: sorted("buy"), asks: sorted("sell") },
        book.depth(everything),
      );
    },
  };
}

/** Every order's way through the table of states, and where its lots went. */
function createLives() {
  const lives = new Map<string, { number: number; state: OrderState; size: number; gone: number }>();
  const lifeOf = (id: string) => {
    const life = lives.get(id);
    if (life === undefined) throw new Error(`an effect names ${id}, which was never placed`);
    return life;
  };
  return {
    follow: (at: string, command: BookCommand, effects: Effect[]) => {
      if (command.kind === "place_limit" || command.kind === "place_market")
        lives.set(command.id, { number: command.number, state: "pending", size: command.size, gone: 0 });
      for (const effect of effects) {
        for (const [id, event] of orderEventsOf(effect)) {
          const life = lifeOf(id);
          const next = orderTransitions[life.state][event];
          if (next === undefined) throw new Error(`${at}: ${id} is ${life.state} and cannot ${event}`);
          life.state = next;
        }
        if (effect.kind === "trade")
          for (const id of [effect.maker, effect.taker]) lifeOf(id).gone += effect.size;
        if (effect.kind === "cancelled") lifeOf(effect.id).gone += effect.remaining;
        if (effect.kind === "amended") lifeOf(effect.id).size = effect.size;
        if (effect.kind === "rejected") lifeOf(effect.id).gone = lifeOf(effect.id).size;
      }
    },
    /** What was placed is traded, ended or still there; nothing else rests. */
    settle: (book: Book) => {
      for (const [id, { number, state, size, gone }] of lives) {
        const open = book.find(number);
        if (orderStates[state].resting !== (open !== undefined)) throw new Error(`${id} is ${state}`);
        if (size !== gone + (open?.remaining ?? 0)) throw new Error(`${id} has lost lots`);
      }
    },
  };
}

function count1(tally: Tally, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

function assertSame(what: string, ours: unknown, wanted: unknown): void {
  const [is, should] = [canonical(ours), canonical(wanted)];
  if (is !== should) throw new Error(`${what}\n  is     ${is}\n  should ${should}`);
}

/** Texts that are equal where values are, whatever the order of their fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function show(command: BookCommand): string {
  return JSON.stringify(command, (_, part) => (typeof part === "bigint" ? `${part}n` : part));
}
