import {
  bodyOf,
  codeOf,
  type Event,
  type Exchange,
  type Transaction,
  type Wallet,
} from "../world/exchange.js";
import { type FollowedLog, isCut, noBalance, positionName, units, type WalletMoment } from "./audit-log.js";
import type { Evidence } from "./auditor.js";

/** How much longer than it asked for a client may wait for a change. */
const patienceMs = 2000;

/**
 * Every answer against the log: it must be what the log said at some moment, and that moment not before what a client had seen
 * already when the question was asked.
 */
export function auditAnswers(evidence: Evidence, log: FollowedLog): string[] {
  const { closing, epoch, lostIds } = evidence;
  // Before the last rewind, and until all have noticed it, clients may have seen what is lost now.
  const exchanges = evidence.exchanges.filter((exchange) => exchange.epoch === epoch);
  const finals = new Map(closing.transactions.map((transaction) => [transaction.id, transaction]));
  const knownBefore = createFloor(exchanges, log);
  return exchanges.flatMap((exchange) => {
    const { request } = exchange;
    const floor = knownBefore(exchange.sentOrder);
    switch (request.kind) {
      case "read":
      case "cancel":
        return auditOne(exchange, request.id, finals.get(request.id), floor, log, lostIds);
      case "list":
        return (
          (bodyOf(exchange) as Transaction[] | undefined)?.flatMap((transaction) =>
            auditShown(transaction, finals.get(transaction.id), floor, log),
          ) ?? []
        );
      case "events":
        return auditEvents(exchange, closing.events, request, floor);
      case "freeze":
      case "read_wallet":
        return auditWallet(exchange, request.walletId, floor, log, lostIds);
      default:
        return [];
    }
  });
}

/** The furthest place in the log that an answer had shown to anybody before this point in the order of things. */
function createFloor(exchanges: readonly Exchange[], { positions }: FollowedLog): (order: number) => number {
  const shown = exchanges
    .map((exchange) => ({ order: exchange.answeredOrder, position: furthest(exchange, positions) }))
    .sort((one, other) => one.order - other.order);
  return (order) => {
    let floor = 0;
    for (const one of shown) {
      if (one.order >= order) break;
      floor = Math.max(floor, one.position);
    }
    return floor;
  };
}

function furthest(exchange: Exchange, positions: ReadonlyMap<string, number>): number {
  const body = bodyOf(exchange);
  if (body === undefined) return 0;
  if (exchange.request.kind === "events")
    return Math.max(0, ...(body as Event[]).map(({ sequence }) => sequence));
  const shown = [body].flat() as { id: string; version: number }[];
  return Math.max(0, ...shown.map(({ id, version }) => positions.get(positionName(id, version)) ?? 0));
}

function auditOne(
  exchange: Exchange,
  id: string,
  final: Transaction | undefined,
  floor: number,
  log: FollowedLog,
  lostIds: ReadonlySet<string>,
): string[] {
  const { request } = exchange;
  const code = codeOf(exchange);
  const shown = bodyOf(exchange) as Transaction | undefined;
  const violations = shown === undefined ? [] : auditShown(shown, final, floor, log);
  // Clients ask only for what was acknowledged.
  if (code === "TRANSACTION_NOT_FOUND" && !lostIds.has(id))
    violations.push(`${id} was acknowledged, and then not found`);
  if (request.kind === "cancel") {
    // What a rail works on is only asked to be cancelled, and may still be when it was too late once.
    const isRequest = shown?.history.some(({ state }) => state === "processing");
    if (shown !== undefined && !isRequest && (shown.state !== "cancelled" || final?.state !== "cancelled"))
      violations.push(`${id} was cancelled, and is ${final?.state}`);
    if (code === "NOT_CANCELLABLE" && final?.state === "cancelled" && final.kind !== "payout")
      violations.push(`${id} could not be cancelled, and was`);
  }
  if (request.kind === "read" && request.waitFor !== undefined) {
    const tookMs = exchange.answeredMs - exchange.sentMs;
    if (tookMs > request.waitFor.timeoutMs + patienceMs)
      violations.push(
        `a client that waited ${request.waitFor.timeoutMs} ms for ${id} was held for ${tookMs}`,
      );
  }
  return violations;
}

function auditShown(
  shown: Transaction,
  final: Transaction | undefined,
  floor: number,
  log: FollowedLog,
): string[] {
  if (!isCut(shown, final)) return [`${shown.id} was shown as it never was`];
  const next = log.positions.get(positionName(shown.id, shown.version + 1));
  return next !== undefined && next <= floor ? [`${shown.id} was shown as it no longer was`] : [];
}

function auditEvents(
  exchange: Exchange,
  whole: readonly Event[],
  { after, limit }: { after: number; limit: number },
  floor: number,
): string[] {
  const shown = bodyOf(exchange) as Event[] | undefined;
  if (shown === undefined) return [];
  const expected = whole.slice(after, after + shown.length);
  if (JSON.stringify(shown) !== JSON.stringify(expected))
    return [`the log after ${after} was not what it is now`];
  return shown.length < Math.min(limit, floor - after)
    ? [`the log after ${after} was shorter than known`]
    : [];
}

function auditWallet(
  exchange: Exchange,
  id: string,
  floor: number,
  { moments }: FollowedLog,
  lostIds: ReadonlySet<string>,
): string[] {
  const shown = bodyOf(exchange) as Wallet | undefined;
  if (shown === undefined)
    return codeOf(exchange) === "WALLET_NOT_FOUND" && !lostIds.has(id) ? [`${id} was not found`] : [];
  const opened: WalletMoment = { since: 0, version: 1, frozen: false, balances: new Map() };
  const known = moments.get(id) ?? [];
  const all = known[0]?.since === 0 ? known : [opened, ...known];
  const matches = all.some((moment, index) => {
    const until = all[index + 1]?.since ?? Number.POSITIVE_INFINITY;
    return until > floor && isMoment(shown, moment);
  });
  return matches ? [] : [`${id} was shown as it was at no moment since ${floor}: ${JSON.stringify(shown)}`];
}

function isMoment({ version, frozen, balances }: Wallet, moment: WalletMoment): boolean {
  const isAsset = (asset: string) => {
    const shown = balances.find((balance) => balance.asset === asset);
    const available = units(shown?.available ?? "0", asset);
    const held = units(shown?.held ?? "0", asset);
    const expected = moment.balances.get(asset) ?? noBalance;
    // The hold for a fee is not in the log, only what was charged in the end.
    return asset === "GAS"
      ? available + held === expected.available
      : available === expected.available && held === expected.held;
  };
  return (
    version === moment.version && frozen === moment.frozen && ["USD", "ETH", "STEP", "GAS"].every(isAsset)
  );
}
