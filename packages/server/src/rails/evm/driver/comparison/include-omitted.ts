import type { ChainUnit, FoundAttempt } from "../../../../app/chain/chain-store.js";
import type { NonceUse, TakenPayment } from "../../../../app/chain/nonce-use.js";
import type { ComparedWallet, WalletBooks } from "../../../../app/chain/wallet-books.js";
import { recover } from "../../adopt/resolve-nonces.js";
import {
  type DriverContext,
  type FollowedChain,
  inUnit,
  positionOf,
  settledOf,
  tokensOf,
} from "../driver-context.js";
import type { WalletOnChain } from "./compare-books.js";

export interface AheadWallet {
  wallet: ComparedWallet;
  book: WalletBooks;
  onChain: WalletOnChain;
}

type Included = Omit<NonceUse, "signed">;

/**
 * The chain has used nonces of these wallets that no block has shown. A node can leave a payment of ours out of its block, and no other is asked about
 * what is not there: one of three could halt the wallet of each payment. So all nodes are asked for what was stored of these payments before the
 * nonces count as used by somebody else. Payments that most of them have are in their blocks from then on, and end with the next settled one. Returns
 * the ids of the wallets whose nonces are all explained by that.
 */
export async function includeOmitted(
  context: DriverContext,
  chain: FollowedChain,
  ahead: readonly AheadWallet[],
): Promise<ReadonlySet<string>> {
  const listed = await inUnit(context, positionOf(chain), async (unit) => {
    const taken: TakenPayment[] = [];
    for (const { wallet, onChain } of ahead) taken.push(...(await unit.listTaken(wallet, onChain.nonce)));
    return taken;
  });
  const hashes = listed.flatMap((payment) => payment.hashes);
  if (hashes.length === 0) return new Set();
  // The nodes are asked several times for each part of the hashes, which can outlast the lease.
  const included = await context.node.findIncluded(
    hashes,
    settledOf(chain),
    tokensOf(context.network),
    chain.keepLease,
  );
  await chain.keepLease();
  if (included.length === 0) return new Set();
  const explained = await inUnit(context, positionOf(chain), async (unit, record) => {
    await unit.lockSenders(ahead.map(({ wallet }) => wallet));
    const found = await unit.findAttempts(included.map(({ outcome }) => outcome.hash));
    const explainedIds: string[] = [];
    const payments: { payment: TakenPayment; attempt: FoundAttempt; use: Included }[] = [];
    for (const one of ahead) {
      const taken = await unit.listTaken(one.wallet, one.onChain.nonce);
      const shown = taken.flatMap((payment) => attemptOf(payment, found, included));
      payments.push(...shown);
      const nonces = new Set(shown.map(({ payment }) => payment.nonce));
      if (shown.length === taken.length && isExplained(one, nonces)) explainedIds.push(one.wallet.walletId);
    }
    await include(context, unit, record, payments);
    return explainedIds;
  });
  return new Set(explained);
}

function attemptOf(payment: TakenPayment, found: readonly FoundAttempt[], included: readonly Included[]) {
  const attempt = found.find(({ id, tenantId }) => id === payment.id && tenantId === payment.tenantId);
  const use = included.find(({ outcome }) => outcome.hash === attempt?.hash);
  return attempt === undefined || use === undefined ? [] : [{ payment, attempt, use }];
}

/** What is below the final nonce has ended, or is one of the payments that were looked for. */
function isExplained({ book, onChain }: AheadWallet, nonces: ReadonlySet<number>): boolean {
  for (let nonce = book.finalNonce; nonce < onChain.nonce; nonce++) if (!nonces.has(nonce)) return false;
  return true;
}

async function include(
  context: DriverContext,
  unit: ChainUnit,
  record: Parameters<Parameters<typeof inUnit>[2]>[1],
  payments: readonly { payment: TakenPayment; attempt: FoundAttempt; use: Included }[],
): Promise<void> {
  await unit.lockOpen(payments.map(({ payment }) => payment));
  const recovered = payments.flatMap(({ payment, attempt: { purpose }, use }) =>
    recover(context, payment, { kind: "ours", use: { ...use, signed: null }, purpose, forgotten: null }),
  );
  const events = recovered.flatMap((one) => one.events);
  if (events.length > 0) await record({ events });
  unit.includePayments(recovered.map(({ inclusion }) => inclusion));
}
