import {
  type Book,
  type BookCommand,
  createBook,
  type Effect,
  type PlaceLimit,
  type PlaceMarket,
  type Trade,
} from "@bursar/domain";

/** The book that examples begin with, and short words for commands. Orders get their numbers as they are made. */

const numbers = new Map<string, number>();
let lastNumber = 0;

function takeNumber(id: string): number {
  lastNumber += 1;
  numbers.set(id, lastNumber);
  return lastNumber;
}

/** The number of the order that was last made with this id. */
export const numberOf = (id: string) => numbers.get(id) ?? 0;

export const apply = (book: Book, ...commands: BookCommand[]): Effect[] => {
  const effects: Effect[] = [];
  for (const command of commands) book.apply(command, effects);
  return effects;
};
export const limit = (
  id: string,
  side: "buy" | "sell",
  size: number,
  price: number,
  more: Partial<PlaceLimit> = {},
) =>
  ({
    kind: "place_limit",
    number: takeNumber(id),
    id,
    owner: `owner of ${id}`,
    side,
    size,
    price,
    timeInForce: "gtc",
    selfTrade: "cancel_newest",
    ...more,
  }) as const;
export const market = (id: string, side: "buy" | "sell", size: number, more: Partial<PlaceMarket> = {}) =>
  ({
    kind: "place_market",
    number: takeNumber(id),
    id,
    owner: `owner of ${id}`,
    side,
    size,
    selfTrade: "cancel_newest",
    ...more,
  }) as const;
export const cancel = (id: string) => ({ kind: "cancel", number: numberOf(id), id }) as const;
export const amend = (id: string, size: number) =>
  ({ kind: "amend", number: numberOf(id), id, size }) as const;
export const trades = (effects: Effect[]) =>
  effects
    .filter((effect): effect is Trade => effect.kind === "trade")
    .map(({ maker, size, price }) => [maker, size, price]);

/** Asks at 100 (5, then 3) and 101 (4); bids at 99 (6). */
export const filledBook = (): Book => {
  const book = createBook();
  apply(
    book,
    limit("a1", "sell", 5, 100),
    limit("a2", "sell", 3, 100),
    limit("a3", "sell", 4, 101),
    limit("b1", "buy", 6, 99),
  );
  return book;
};
