import { auditOutcome } from "./audit-outcome.js";
import type { Evidence } from "./auditor.js";
import { partyOf, type Transaction } from "./exchange.js";

/** A wallet as it was from one event of the log on. */
export interface WalletMoment {
  since: number;
  version: number;
  frozen: boolean;
  balances: ReadonlyMap<string, bigint>;
}

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
    const source = walletNow(partyOf(transaction.source));
    violations.push(
      ...auditOutcome({
        transaction,
        occurredMs: Date.parse(occurred_at),
        source: { available: source?.balances.get(transaction.asset) ?? 0n, frozen: source?.frozen === true },
        wasCancelled: cancelled.has(id),
        evidence,
      }),
    );
    if (state === "completed") {
      for (const [wallet, sign] of [
        [transaction.source, -1n],
        [transaction.destination, 1n],
      ] as const) {
        const balances = new Map(walletNow(partyOf(wallet))?.balances);
        const amount = units(transaction.amount, transaction.asset);
        balances.set(transaction.asset, (balances.get(transaction.asset) ?? 0n) + sign * amount);
        move(partyOf(wallet), sequence, { balances });
      }
    }
  }
  return { violations: [...violations, ...auditEnd(evidence, versions, walletNow)], positions, moments };
}

function openWallets({ openings }: Evidence): Map<string, WalletMoment[]> {
  const moments = new Map<string, WalletMoment[]>();
  for (const { walletId, asset, amount } of openings) {
    const balances = new Map(moments.get(walletId)?.[0]?.balances).set(asset, amount);
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
  for (const { id, version, state } of closing.transactions) {
    const logged = versions.get(id) ?? { version: 1, state: "accepted" };
    if (logged.version !== version || logged.state !== state)
      violations.push(`${id} is ${state} (${version}); the log says ${logged.state} (${logged.version})`);
  }
  for (const wallet of closing.wallets) {
    const logged = walletNow(wallet.id);
    for (const { asset, available, held } of wallet.balances) {
      const expected = logged?.balances.get(asset) ?? 0n;
      if (units(available, asset) !== expected)
        violations.push(`${wallet.id} has ${available} ${asset}; by the log it is ${expected} units`);
      if (units(held, asset) !== 0n) violations.push(`${wallet.id} still holds ${held} ${asset}`);
    }
    if (wallet.frozen !== (logged?.frozen ?? false) || wallet.version !== (logged?.version ?? 1))
      violations.push(`${wallet.id} is not what the log says`);
  }
  return violations;
}

const decimals: Record<string, number> = { USD: 2, ETH: 18 };

/** An amount in base units. */
export function units(amount: string, asset: string): bigint {
  const [whole = "", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(decimals[asset] ?? 0, "0"));
}
