import type { LockedSender } from "../../../app/chain/chain-store.js";
import type { SignedNonce } from "../../../app/chain/signer.js";
import type {
  BoundPayment,
  SignedOfWallet,
  UnconfirmedWallet,
} from "../../../app/chain/unconfirmed-wallet.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import { type DriverContext, type FollowedChain, haltWallet, inUnit, positionOf } from "./driver-context.js";
import { isolateWallets } from "./isolate-wallets.js";
import { aheadReason, readUsedNonces } from "./used-nonces.js";

/** Whether the chain and the signer know payments that the database has forgotten. */
export interface Confirmation {
  /**
   * Asks them about wallets that were not confirmed in this epoch of the database. Until one is, its payments without a nonce may have been made:
   * none of them ends, and none gets a nonce, except for those that the signer has bound to the next one.
   */
  readonly confirm: (chain: FollowedChain) => Promise<boolean>;
  /** The transaction that the signer has bound to a nonce of a wallet, and which does not have it in the database. */
  readonly boundTo: (walletId: string, nonce: number) => string | undefined;
  /** Whether a payment is such a transaction. */
  readonly isBound: (payment: { id: string; walletId: string }) => boolean;
  /** The first of each wallet, in the order of their nonces. */
  readonly listBound: (perWalletMax: number) => readonly BoundPayment[];
}

export interface ConfirmationDeps extends DriverContext {
  monotonicMs: () => number;
}

/** As many as the signer answers for within its bounds. */
const walletsMax = 32;
/** How many nonces of a wallet the signer lists at once. */
const listedMax = 256;
/** It is asked about again in each look, and the others are confirmed meanwhile. */
const walletAtFault = {
  code: "PAYMENT_AT_FAULT",
  reason: "It cannot be compared with the chain and the signer",
} as const;
/** A wallet becomes unconfirmed when the database went back, or when it goes on after a halt. */
const lookEveryMs = 1000;

export function createConfirmation(deps: ConfirmationDeps): Confirmation {
  let dueMs = Number.NEGATIVE_INFINITY;
  let after: UnconfirmedWallet | undefined;
  const bound = new Map<string, readonly SignedOfWallet[]>();
  /** Those that the round has found so far. */
  const listed = new Set<string>();

  /** One SQL transaction, which confirms those that the chain and the signer agree with. */
  async function comparePage(
    chain: FollowedChain,
    wallets: readonly UnconfirmedWallet[],
    used: ReadonlyMap<string, number>,
    signed: SignerMemory,
  ): Promise<{ overtaken: LockedSender[]; foreign: SignedOfWallet[] }> {
    const ids = new Set(wallets.map(({ walletId }) => walletId));
    return await inUnit(deps, positionOf(chain), async (unit) => {
      const senders = await unit.lockSenders(wallets);
      const overtaken = senders.filter(({ walletId, nextNonce }) => (used.get(walletId) ?? 0) > nextNonce);
      const foreign = await unit.listUnknownNonces(signed.nonces.filter(({ walletId }) => ids.has(walletId)));
      const open = new Set([...overtaken, ...foreign].map(({ walletId }) => walletId));
      const confirmed = wallets.filter(
        ({ walletId }) => !open.has(walletId) && !signed.refused.has(walletId),
      );
      // The epoch that was listed: in a later one they are asked again.
      unit.confirmWallets(confirmed, wallets[0]?.epoch ?? 0);
      return { overtaken, foreign };
    });
  }

  async function confirmPage(chain: FollowedChain, wallets: readonly UnconfirmedWallet[]): Promise<void> {
    const used = await readUsedNonces(deps, chain, wallets);
    const signed = await askSigner(deps, wallets);
    const compare = (some: readonly UnconfirmedWallet[]) => comparePage(chain, some, used, signed);
    const compared = await isolateWallets(deps, chain, wallets, (wallet) => wallet, compare, walletAtFault);
    const ahead = compared.flatMap(({ overtaken }) => overtaken);
    const unknown = compared.flatMap(({ foreign }) => foreign);
    for (const wallet of ahead.filter(({ isHalted }) => !isHalted))
      await haltWallet(deps, chain, wallet, "NONCE_USED_ELSEWHERE", aheadReason(wallet, used));
    for (const { walletId } of wallets) {
      const nonces = unknown.filter((one) => one.walletId === walletId);
      if (bound.has(walletId)) report(walletId, nonces[0]);
      if (nonces.length === 0) bound.delete(walletId);
      else bound.set(walletId, nonces);
    }
    for (const [walletId, reason] of signed.refused) deps.onShort({ walletId, id: walletId, reason });
  }

  /** Only if it is still unknown at the second look: the payment may be waiting to get its nonce again. */
  function report(walletId: string, first: SignedNonce | undefined): void {
    if (first === undefined) return;
    const { nonce, transactionId } = first;
    const reason = `The signer has signed ${shownPaymentId(transactionId)} with nonce ${nonce}, and the database does not know it, or has given it no nonce: it was restored from a backup. Payments of the wallet wait until that transaction is in a block or gets its nonce again, or until the nonce is given up with \`bursar wallet give-up\`.`;
    deps.onShort({ walletId, id: transactionId, reason });
  }

  return {
    boundTo: (walletId, nonce) => bound.get(walletId)?.find((one) => one.nonce === nonce)?.transactionId,
    isBound: ({ id, walletId }) =>
      bound.get(walletId)?.some(({ transactionId }) => transactionId === id) === true,
    listBound: (perWalletMax) =>
      [...bound.values()].flatMap((nonces) =>
        nonces
          .slice(0, perWalletMax)
          .map(({ tenantId, walletId, transactionId: id }) => ({ tenantId, walletId, id })),
      ),
    confirm: async (chain) => {
      if (after === undefined && deps.monotonicMs() < dueMs) return false;
      const page = { after, limit: walletsMax };
      const wallets = await deps.store.listUnconfirmed(deps.network.network, page);
      dueMs = deps.monotonicMs() + lookEveryMs;
      after = wallets.length < walletsMax ? undefined : wallets.at(-1);
      for (const { walletId } of wallets) listed.add(walletId);
      if (wallets.length > 0) await confirmPage(chain, wallets);
      if (after !== undefined) return true;
      // What another process has confirmed is not asked about here.
      for (const walletId of bound.keys()) if (!listed.has(walletId)) bound.delete(walletId);
      listed.clear();
      return false;
    },
  };
}

interface SignerMemory {
  nonces: SignedOfWallet[];
  /** Wallets that it does not answer for, by their ids, with the reasons. */
  refused: Map<string, string>;
}

/** What the signer has signed with nonces that are not final in the database. */
export async function askSigner(
  { network, signer }: DriverContext,
  wallets: readonly Pick<UnconfirmedWallet, "tenantId" | "walletId" | "finalNonce">[],
): Promise<SignerMemory> {
  const memory: SignerMemory = { nonces: [], refused: new Map() };
  let asked = wallets.map(({ tenantId, walletId, finalNonce }) => ({
    ...{ tenantId, walletId, network: network.network, nonce: finalNonce },
  }));
  while (asked.length > 0) {
    const answers = await signer.signedFrom(asked);
    asked = asked.flatMap((wallet, index) => {
      const { tenantId, walletId } = wallet;
      const answer = answers[index] ?? { reason: "The signer has not answered." };
      if ("reason" in answer) {
        memory.refused.set(walletId, answer.reason);
        return [];
      }
      for (const one of answer) memory.nonces.push({ ...one, tenantId, walletId });
      const last = answer.length < listedMax ? undefined : answer.at(-1);
      return last === undefined ? [] : [{ ...wallet, nonce: last.nonce + 1 }];
    });
  }
  return memory;
}
