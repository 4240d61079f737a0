import { partyOf, type Transaction } from "../world/exchange.js";
import { auditOutcome } from "./audit-outcome.js";
import type { Evidence } from "./auditor.js";

/** A wallet as it was from one event of the log on. */
export interface WalletMoment {
  since: number;
  version: number;
  frozen: boolean;
  balances: ReadonlyMap<string, LoggedBalance>;
}

interface LoggedBalance {
  available: bigint;
  held: bigint;
}

export const noBalance: LoggedBalance = { available: 0n, held: 0n };

/** What the log says, followed from its beginning. */
export interface FollowedLog {
  violations: string[];
  /** The sequence of the event that brought a subject to a version. */
  positions: ReadonlyMap<string, number>;
  moments: ReadonlyMap<string, WalletMoment[]>;
}

export const positionName = (id: string, version: number) => `${id} ${version}`;

/**
 * Follows the log from the opening balances on, event by event, as a bookkeeper would: sequences without gaps, versions without
 * jumps, money that is there before it is spent, and in the end the balances that the wallets show.
 */
export function auditLog(evidence: Evidence): FollowedLog {
  const { closing, exchanges } = evidence;
  const violations: string[] = [];
  const positions = new Map<string, number>();
  const moments = openWallets(evidence);
  const finals = new Map(closing.transactions.map((transaction) => [transaction.id, transaction]));
  const versions = new Map<string, { version: number; state: string }>();
  const cancelled = new Set(
    exchanges.flatMap(({ request }) => (request.kind === "cancel" ? [request.id] : [])),
  );

  const walletNow = (id: string) => moments.get(id)?.at(-1);
  function move(id: string, since: number, change: Partial<Omit<WalletMoment, "since">>): void {
    const before = walletNow(id) ?? { version: 1, frozen: false, balances: new Map() };
    moments.set(id, [...(moments.get(id) ?? []), { ...before, ...change, since }]);
  }

  for (const [index, { sequence, event, data, occurred_at }] of closing.events.entries()) {
    if (sequence !== index + 1) violations.push(`the log has ${sequence} where ${index + 1} belongs`);
    const subject = data.transaction ?? data.wallet;
    if (subject === undefined || (event === "transaction.updated") !== (data.transaction !== undefined)) {
      violations.push(`event ${sequence} has no subject`);
      continue;
    }
    const { id, version, state } = subject;
    positions.set(positionName(id, version), sequence);
    const before = versions.get(id) ?? { version: 1, state: data.transaction ? "accepted" : undefined };
    if (version !== before.version + 1)
      violations.push(`event ${sequence} brings ${id} from version ${before.version} to ${version}`);
    if (before.state !== undefined && data.transaction && data.previous_state !== before.state)
      violations.push(`event ${sequence} says that ${id} was ${data.previous_state}; it was ${before.state}`);
    versions.set(id, { version, state });
    if (data.wallet !== undefined) {
      move(id, sequence, { version, frozen: data.wallet.frozen });
      continue;
    }
    const transaction = data.transaction as Transaction;
    if (!isCut(transaction, finals.get(id)))
      violations.push(`event ${sequence} tells ${id} otherwise than its end`);
    const source = transaction.source === null ? undefined : walletNow(partyOf(transaction.source));
    violations.push(
      ...auditOutcome({
        transaction,
        occurredMs: Date.parse(occurred_at),
        previousState: before.state ?? "",
        source: {
          available: source?.balances.get(transaction.asset)?.available ?? 0n,
          frozen: source?.frozen === true,
        },
        wasCancelled: cancelled.has(id),
        evidence,
      }),
    );
    for (const { walletId, asset, available, held } of changesOf(transaction, before.state ?? "")) {
      const balances = new Map(walletNow(walletId)?.balances);
      const known = balances.get(asset) ?? noBalance;
      balances.set(asset, { available: known.available + available, held: known.held + held });
      move(walletId, sequence, { balances });
    }
  }
  return { violations: [...violations, ...auditEnd(evidence, versions, walletNow)], positions, moments };
}

interface BalanceChange extends LoggedBalance {
  walletId: string;
  asset: string;
}

const holdingStates = ["awaiting_approval", "processing", "broadcast", "confirming"];

/** What an event does to the wallets on both sides: an amount is held while it is under way, and paid or free again at its end. */
function changesOf(transaction: Transaction, previousState: string): BalanceChange[] {
  const { state, asset, source, destination, fee } = transaction;
  const amount = units(transaction.amount, asset);
  const [wasHeld, isHeld] = [holdingStates.includes(previousState), holdingStates.includes(state)];
  const changes: BalanceChange[] = [];
  if (source !== null && "wallet_id" in source) {
    const walletId = source.wallet_id;
    const held = (isHeld ? amount : 0n) - (wasHeld ? amount : 0n);
    const available = state === "completed" && wasHeld ? 0n : state === "completed" ? -amount : -held;
    if (held !== 0n || available !== 0n) changes.push({ walletId, asset, available, held });
    if (fee !== null)
      changes.push({ walletId, asset: fee.asset, available: -units(fee.amount, fee.asset), held: 0n });
  }
  if (state === "completed" && "wallet_id" in destination)
    changes.push({ walletId: destination.wallet_id, asset, available: amount, held: 0n });
  return changes;
}

function openWallets({ openings }: Evidence): Map<string, WalletMoment[]> {
  const moments = new Map<string, WalletMoment[]>();
  for (const { walletId, asset, amount } of openings) {
    const opened = { available: amount, held: 0n };
    const balances = new Map(moments.get(walletId)?.[0]?.balances).set(asset, opened);
    moments.set(walletId, [{ since: 0, version: 1, frozen: false, balances }]);
  }
  return moments;
}

/** What a transaction looked like at one version is how it looks in the end, cut off there. */
export function isCut(cut: Transaction, whole: Transaction | undefined): boolean {
  if (whole === undefined || cut.version > whole.version) return false;
  const upToHere = whole.history.slice(0, cut.version);
  return (
    JSON.stringify(cut.history) === JSON.stringify(upToHere) &&
    upToHere.every(({ version }, index) => version === index + 1) &&
    upToHere.at(-1)?.state === cut.state &&
    cut.amount === whole.amount &&
    cut.reference === whole.reference &&
    cut.created_at === whole.created_at
  );
}

function auditEnd(
  { closing }: Evidence,
  versions: ReadonlyMap<string, { version: number; state: string }>,
  walletNow: (id: string) => WalletMoment | undefined,
): string[] {
  const violations: string[] = [];
  const walletIds = new Set(closing.wallets.map(({ id }) => id));
  for (const { id, version, state, source, destination } of closing.transactions) {
    for (const side of [source, destination])
      if (side !== null && "wallet_id" in side && !walletIds.has(side.wallet_id))
        violations.push(`${id} names the wallet ${side.wallet_id}, which does not exist`);
    const logged = versions.get(id) ?? { version: 1, state: "accepted" };
    if (logged.version !== version || logged.state !== state)
      violations.push(`${id} is ${state} (${version}); the log says ${logged.state} (${logged.version})`);
  }
  for (const wallet of closing.wallets) {
    const logged = walletNow(wallet.id);
    for (const { asset, available, held } of wallet.balances) {
      const expected = logged?.balances.get(asset)?.available ?? 0n;
      if (units(available, asset) !== expected)
        violations.push(`${wallet.id} has ${available} ${asset}; by the log it is ${expected} units`);
      if (units(held, asset) !== 0n) violations.push(`${wallet.id} still holds ${held} ${asset}`);
    }
    if (wallet.frozen !== (logged?.frozen ?? false) || wallet.version !== (logged?.version ?? 1))
      violations.push(`${wallet.id} is not what the log says`);
  }
  return violations;
}

const decimals: Record<string, number> = { USD: 2, ETH: 18, STEP: 2, GAS: 0 };

/** An amount in base units. */
export function units(amount: string, asset: string): bigint {
  const [whole = "", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(decimals[asset] ?? 0, "0"));
}
