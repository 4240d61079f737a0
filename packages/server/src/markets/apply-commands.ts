import {
  type Book,
  type BookCommand,
  type Effect,
  type Trade,
  type TradedMarket,
  tickLotsFromQuoteUnits,
} from "@bursar/domain";
import {
  type LevelChangeRow,
  type LoadedMarket,
  type LockedKey,
  type MarketCommand,
  type OpenOrderRow,
  type PlacedOrder,
  StoppedOrderError,
} from "../app/markets/market-store.js";

/** A command and what the book has made of it. */
export interface CommandResult {
  command: MarketCommand;
  effects: readonly Effect[];
}

/**
 * Tells the book the commands, in their order, until they have had more effects than one transaction should write: then the rest of
 * them is left for the next one. An order that is stopped does not reach the book: it ends as if it was cancelled.
 */
export function applyCommands(
  book: Book,
  market: TradedMarket,
  commands: readonly MarketCommand[],
  effectsMax = Number.POSITIVE_INFINITY,
  stopped: ReadonlySet<string> = new Set(),
): CommandResult[] {
  const results: CommandResult[] = [];
  let effectCount = 0;
  for (const command of commands) {
    if (effectCount >= effectsMax) break;
    const effects: Effect[] = [];
    if (command.kind === "place" && stopped.has(command.orderId))
      effects.push(cancelUnplaced(command.orderId));
    else if (command.orderNumber !== 0) book.apply(toBookCommand(market, command), effects);
    if (!stopped.has(command.orderId)) effectCount += effects.length;
    results.push({ command, effects });
  }
  return results;
}

function cancelUnplaced(id: string): Effect {
  return { kind: "cancelled", id, remaining: 0, reason: "requested" };
}

/** Cancels orders that rest and are stopped, before the commands that wait. They have no place in the log, so they are executed with the next. */
export function cancelStopped({ orders, waiting, stopped, position }: LoadedMarket): MarketCommand[] {
  if (stopped.size === 0 || waiting.length === 0) return [];
  const common = { kind: "cancel", actorId: null, sequence: position.appliedSequence } as const;
  return orders
    .filter(({ id }) => stopped.has(id))
    .map(({ id: orderId, number: orderNumber, owner: tenantId }) => ({
      ...common,
      tenantId,
      orderId,
      orderNumber,
    }));
}

/** How many commands that wait have no place in the log. */
export function countUnlogged({ waiting, position }: Pick<LoadedMarket, "waiting" | "position">): number {
  return waiting.filter(({ sequence }) => sequence <= position.appliedSequence).length;
}

/** Throws a `StoppedOrderError` if an order would trade that must not. */
export function assertTradersFree(
  results: readonly CommandResult[],
  orders: readonly Pick<OpenOrderRow, "id" | "isStopped">[],
): void {
  const stopped = new Set(orders.filter(({ isStopped }) => isStopped).map(({ id }) => id));
  if (stopped.size === 0) return;
  const trader = tradesOf(results)
    .flatMap(({ maker, taker }) => [maker, taker])
    .find((id) => stopped.has(id));
  if (trader !== undefined)
    throw new StoppedOrderError(`the client, tenant or wallet of ${trader} is stopped, and it would trade`);
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
