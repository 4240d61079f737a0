import {
  type Book,
  type BookCommand,
  type Effect,
  type Trade,
  type TradedMarket,
  tickLotsFromQuoteUnits,
} from "@bursar/domain";
import type { LevelChangeRow, LockedKey, MarketCommand, PlacedOrder } from "../app/markets/market-store.js";

/** A command and what the book has made of it. */
export interface CommandResult {
  command: MarketCommand;
  effects: readonly Effect[];
}

/**
 * Tells the book the commands, in their order, until they have had more effects than one transaction should write: then the rest of
 * them is left for the next one.
 */
export function applyCommands(
  book: Book,
  market: TradedMarket,
  commands: readonly MarketCommand[],
  effectsMax = Number.POSITIVE_INFINITY,
): CommandResult[] {
  const results: CommandResult[] = [];
  let effectCount = 0;
  for (const command of commands) {
    if (effectCount >= effectsMax) break;
    const effects: Effect[] = [];
    if (command.orderNumber !== 0) book.apply(toBookCommand(market, command), effects);
    effectCount += effects.length;
    results.push({ command, effects });
  }
  return results;
}

/** The orders that results are about, each once. Nobody trades with themselves, so what is not a trade is of the command's tenant. */
export function touchedOrders(results: readonly CommandResult[]): LockedKey[] {
  const touched = new Map<string, LockedKey>();
  const touch = (tenantId: string, id: string) => {
    if (!touched.has(id)) touched.set(id, { tenantId, id });
  };
  for (const { command, effects } of results) {
    if (command.kind === "place") {
      const { tenantId, orderId: id, orderNumber: number, content, held } = command;
      touched.set(id, { tenantId, id, placed: { number, content, held } });
    }
    for (const effect of effects) {
      if (effect.kind === "trade") {
        touch(effect.makerOwner, effect.maker);
        touch(effect.takerOwner, effect.taker);
      } else if (effect.kind !== "command_refused") touch(command.tenantId, effect.id);
    }
  }
  return [...touched.values()];
}

/** The trades of results, in their order. */
export function tradesOf(results: readonly CommandResult[]): Trade[] {
  return results.flatMap(({ effects }) => effects.filter((effect) => effect.kind === "trade"));
}

function toBookCommand(market: TradedMarket, command: MarketCommand): BookCommand {
  const { orderNumber: number, orderId: id, tenantId: owner } = command;
  switch (command.kind) {
    case "place":
      return place(market, { number, id, owner }, command.order, command.priceLimit);
    case "cancel":
      return { kind: "cancel", number, id };
    case "amend":
      return { kind: "amend", number, id, size: command.size };
  }
}

function place(
  { steps }: TradedMarket,
  { number, id, owner }: { number: number; id: string; owner: string },
  order: PlacedOrder,
  limit: number | null,
): BookCommand {
  const { side, price, size, timeInForce, selfTrade, quoteSize } = order;
  if (price !== null && size !== null && timeInForce !== null)
    return { kind: "place_limit", number, id, owner, side, price, size, timeInForce, selfTrade };
  const priceLimit = limit === null ? {} : { priceLimit: limit };
  if (quoteSize === null)
    return { kind: "place_market", number, id, owner, side, size: size ?? 0, selfTrade, ...priceLimit };
  const quoteMax = tickLotsFromQuoteUnits(quoteSize, steps);
  return {
    kind: "place_market",
    number,
    id,
    owner,
    side,
    size: size ?? lotsBeyond(quoteMax),
    quoteMax,
    selfTrade,
    ...priceLimit,
  };
}

/** More lots than an amount can buy, which costs at least a tick for each. */
function lotsBeyond(tickLots: bigint): number {
  const lots = tickLots + 1n;
  return lots > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(lots);
}

/** How the levels of a book have changed since they were last taken. */
export function takeLevelChanges(book: Book): LevelChangeRow[] {
  return book
    .takeLevelChanges()
    .map(({ side, price, size, orderCount }): LevelChangeRow => [side, price, size, orderCount]);
}
