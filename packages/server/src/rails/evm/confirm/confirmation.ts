import type { LockedSender } from "../../../app/chain/locked-sender.js";
import type { SignedNonce } from "../../../app/chain/signer.js";
import {
  type BoundPayment,
  type SignedOfWallet,
  type UnconfirmedPage,
  type UnconfirmedWallet,
  wasConfirmed,
} from "../../../app/chain/unconfirmed-wallet.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import {
  type DriverContext,
  type FollowedChain,
  haltRunning,
  inUnit,
  positionOf,
} from "../driver/driver-context.js";
import { isolateWallets } from "../driver/isolate-wallets.js";
import { listedMax } from "./ask-signer.js";
import { doubtInUnit } from "./doubt-wallets.js";
import { listsMax, listUnknown } from "./list-unknown.js";
import { createPauses } from "./pauses.js";
import { aheadReason, readUsedNonces } from "./used-nonces.js";

/** Whether the chain and the signer know payments that the database has forgotten. */
export interface Confirmation {
  /**
   * Asks them about wallets that were not confirmed in this epoch of the database. Until one is, its payments without a nonce may have been made:
   * none of them ends, and none gets a nonce, except for those that the signer has bound to the next one, and those that fill a gap.
   */
  readonly confirm: (chain: FollowedChain) => Promise<boolean>;
  /** The transaction that the signer has bound to a nonce of a wallet, and which does not have it in the database. */
  readonly boundTo: (walletId: string, nonce: number) => string | undefined;
  /** Whether a payment is such a transaction. */
  readonly isBound: (payment: { id: string; walletId: string }) => boolean;
  /**
   * Whether the signer has signed nothing with the next nonce of a wallet, and something with later ones: those are never executed unless some
   * payment uses this one. Any that is not bound can, if all that the signer has signed is known.
   */
  readonly hasGap: (sender: LockedSender) => boolean;
  /** Whether a wallet had such a gap when it was looked at last. */
  readonly hadGap: (walletId: string) => boolean;
  /** The first of each wallet, in the order of their nonces. */
  readonly listBound: (perWalletMax: number) => readonly BoundPayment[];
  /** Forgets what the signer has said: the database may have gone back since. */
  readonly reset: () => void;
  /** Bound payments of these wallets have got their nonces: they are asked about in the next look. */
  readonly lookSoon: (walletIds: readonly string[]) => void;
}

export interface ConfirmationDeps extends DriverContext {
  monotonicMs: () => number;
}

/** With the block that it is asked for, a batch of a node has room for the nonces of so many. */
const walletsMax = 96;
/** It is asked about again in each look, and the others are confirmed meanwhile. */
const walletAtFault = {
  code: "PAYMENT_AT_FAULT",
  reason: "It cannot be compared with the chain and the signer",
} as const;
/** A wallet becomes unconfirmed when the database went back, or when it goes on after a halt. */
const lookEveryMs = 1000;
/** One that stays unconfirmed is asked about after pauses that double up to this one. */
const pauseMaxMs = 15_000;

/** What the signer has signed for a wallet, and the database does not know. */
interface UnknownNonces {
  nonces: readonly SignedOfWallet[];
  /** Whether these are all. */
  isComplete: boolean;
  /** As it was then. */
  wallet: UnconfirmedWallet;
}

export function createConfirmation(deps: ConfirmationDeps): Confirmation {
  let dueMs = Number.NEGATIVE_INFINITY;
  /** Where the round goes on; undefined between two rounds. */
  let page: UnconfirmedPage | undefined;
  /** The same of those with payments that wait, and whether it is their turn. */
  let waitingPage: UnconfirmedPage | undefined;
  let isTurnOfWaiting = true;
  const bound = new Map<string, UnknownNonces>();
  const pauses = createPauses(deps.monotonicMs, { firstMs: lookEveryMs, maxMs: pauseMaxMs });
  /** Those that the round has found so far. */
  const listed = new Set<string>();

  /** One SQL transaction, which confirms those that the chain is not ahead of. Returns which, and those that it is ahead of. */
  async function confirmAgreed(
    chain: FollowedChain,
    wallets: readonly UnconfirmedWallet[],
    used: ReadonlyMap<string, number>,
    isAgreed: (wallet: UnconfirmedWallet) => boolean,
  ): Promise<{ overtaken: LockedSender[]; confirmed: UnconfirmedWallet[] }> {
    return await inUnit(deps, positionOf(chain), async (unit) => {
      const senders = await unit.lockSenders(wallets);
      const overtaken = senders.filter(({ walletId, nextNonce }) => (used.get(walletId) ?? 0) > nextNonce);
      const isOvertaken = new Set(overtaken.map(({ walletId }) => walletId));
      const mayConfirm = new Set(senders.filter(({ hasLater }) => !hasLater).map(({ walletId }) => walletId));
      const confirmed = wallets.filter(
        (wallet) => isAgreed(wallet) && mayConfirm.has(wallet.walletId) && !isOvertaken.has(wallet.walletId),
      );
      // The epoch that was listed: in a later one they are asked again.
      unit.confirmWallets(confirmed, wallets[0]?.epoch ?? 0);
      return { overtaken, confirmed };
    });
  }

  async function confirmPage(chain: FollowedChain, wallets: readonly UnconfirmedWallet[]): Promise<void> {
    const used = await readUsedNonces(deps, chain, wallets);
    // What the chain is ahead of is halted, so the signer, which may know thousands of its nonces, is not asked about it.
    const asked = wallets.filter(({ walletId, nextNonce }) => (used.get(walletId) ?? 0) <= nextNonce);
    const { unknown, unlisted, refused, cut } = await listUnknown(deps, chain, asked);
    const doubted = asked.filter(({ walletId }) => unknown.get(walletId)?.some(({ isNoted }) => !isNoted));
    // Nothing has noticed the restore if a wallet was halted since it was confirmed: the others may have lost payments too.
    if (doubted.some(wasConfirmed))
      await inUnit(deps, positionOf(chain), async (unit) => {
        await unit.lockSenders(doubted);
        await doubtInUnit(deps, unit, doubted);
      });
    const isAsked = new Set(asked);
    const isListed = (wallet: UnconfirmedWallet) => isAsked.has(wallet) && !refused.has(wallet.walletId);
    const isAgreed = (wallet: UnconfirmedWallet) =>
      isListed(wallet) && !unknown.has(wallet.walletId) && !unlisted.has(wallet.walletId);
    const confirm = (some: readonly UnconfirmedWallet[]) => confirmAgreed(chain, some, used, isAgreed);
    const results = await isolateWallets(deps, chain, wallets, (wallet) => wallet, confirm, walletAtFault);
    for (const wallet of results.flatMap(({ overtaken }) => overtaken).filter(({ isHalted }) => !isHalted))
      await haltRunning(deps, chain, wallet, "NONCE_USED_ELSEWHERE", aheadReason(wallet, used));
    const confirmed = new Set(results.flatMap((one) => one.confirmed));
    for (const wallet of wallets) {
      const { walletId } = wallet;
      const forgotten = unlisted.get(walletId) ?? [];
      const signed = [...(unknown.get(walletId) ?? []), ...forgotten].sort((a, b) => a.nonce - b.nonce);
      const nonces = signed.length > 0 || (wallet.hasLater && isListed(wallet)) ? signed : undefined;
      // What else a journal that was restored has lost is not known.
      const isComplete = !cut.has(walletId) && forgotten.length === 0;
      // Only if it is still unknown at the second look: the payment may be waiting to get its nonce again.
      if (bound.has(walletId) && forgotten.length > 0) reportUnlisted(wallet, forgotten);
      else if (bound.has(walletId) && nonces !== undefined) report(wallet, nonces, isComplete);
      if (nonces === undefined || confirmed.has(wallet)) bound.delete(walletId);
      else bound.set(walletId, { nonces, isComplete, wallet });
      if (confirmed.has(wallet)) pauses.end(wallet.walletId);
      else pauses.pause(wallet.walletId);
    }
    for (const [walletId, reason] of refused) deps.onShort({ walletId, id: walletId, reason });
  }

  /**
   * If there are more than one page, those with payments that wait have every second turn, and the first one: a round of a million takes hours, and
   * meanwhile others begin to wait, or all are doubted again.
   */
  async function listNext(): Promise<UnconfirmedWallet[]> {
    const { network } = deps.network;
    dueMs = deps.monotonicMs() + lookEveryMs;
    const given = page ?? ({ of: "all", after: undefined, limit: walletsMax } as const);
    const all = await deps.store.listUnconfirmed(network, given);
    const isOfMany = page !== undefined || all.next !== undefined;
    if (isOfMany && isTurnOfWaiting) {
      const first = { of: "waiting", afterWalletId: undefined, limit: walletsMax } as const;
      const waiting = await deps.store.listUnconfirmed(network, waitingPage ?? first);
      waitingPage = waiting.next;
      page = given;
      isTurnOfWaiting = false;
      if (waiting.wallets.length > 0) return waiting.wallets;
    }
    page = all.next;
    isTurnOfWaiting = true;
    return all.wallets;
  }

  function report(
    { walletId, nextNonce }: UnconfirmedWallet,
    [first]: readonly SignedNonce[],
    isComplete: boolean,
  ): void {
    if (first === undefined) {
      const reason = `A payment of the wallet has a later nonce than ${nextNonce}, which was taken back from another one and must be used before. The next payment of the wallet uses it; if there is none, give it up with \`bursar wallet give-up\`. Payments wait until then.`;
      deps.onShort({ walletId, id: walletId, reason });
      return;
    }
    const { nonce, transactionId } = first;
    const known = `The signer has signed ${shownPaymentId(transactionId)} with nonce ${nonce}, and`;
    const why = "the database does not know it, or has given it no nonce: it was restored from a backup.";
    const gap = isComplete
      ? `nothing with nonce ${nextNonce}, which must be used before. Any payment of the wallet uses it; if there is none, give it up with \`bursar wallet give-up\`.`
      : `more than ${listsMax * listedMax} others, but nothing with nonce ${nextNonce}, which must be used before. Give it up with \`bursar wallet give-up\`.`;
    const wait = `Payments of the wallet wait until that transaction is in a block or gets its nonce again, or until the nonce is given up with \`bursar wallet give-up\`.`;
    if (nonce > nextNonce) deps.onShort({ walletId, id: walletId, reason: `${known} ${gap}` });
    else deps.onShort({ walletId, id: transactionId, reason: `${known} ${why} ${wait}` });
  }

  function reportUnlisted(
    { walletId, nextNonce }: UnconfirmedWallet,
    [first]: readonly SignedOfWallet[],
  ): void {
    if (first === undefined) return;
    const { nonce, transactionId } = first;
    const known = `The signer had signed ${shownPaymentId(transactionId)} with nonce ${nonce}, and does not list it any more: its journal was restored from a backup, or is that of another signer. Restore the newest journal.`;
    const below =
      nonce > nextNonce
        ? ` No payment uses nonce ${nextNonce} before, because one may have been signed with it. If the journal is lost, give that nonce up with \`bursar wallet give-up\`.`
        : " The payment gets this nonce again, and the others wait until then.";
    deps.onShort({ walletId, id: transactionId, reason: `${known}${below}` });
  }

  const boundTo: Confirmation["boundTo"] = (walletId, nonce) =>
    bound.get(walletId)?.nonces.find((one) => one.nonce === nonce)?.transactionId;

  return {
    boundTo,
    reset: () => {
      dueMs = Number.NEGATIVE_INFINITY;
      page = undefined;
      waitingPage = undefined;
      listed.clear();
      bound.clear();
      pauses.keepOnly(listed);
    },
    isBound: ({ id, walletId }) =>
      bound.get(walletId)?.nonces.some(({ transactionId }) => transactionId === id) === true,
    hasGap: (sender) => {
      const known = bound.get(sender.walletId);
      // After another restore the signer may have signed more than is known here.
      return known?.wallet.epoch === sender.epoch && isGap(known, sender);
    },
    hadGap: (walletId) => {
      const known = bound.get(walletId);
      return known !== undefined && isGap(known, known.wallet);
    },
    listBound: (perWalletMax) =>
      [...bound.values()].flatMap(({ nonces }) =>
        nonces
          .slice(0, perWalletMax)
          .map(({ tenantId, walletId, transactionId: id }) => ({ tenantId, walletId, id })),
      ),
    lookSoon: (walletIds) => {
      for (const walletId of walletIds) pauses.end(walletId);
    },
    confirm: async (chain) => {
      if (page === undefined && deps.monotonicMs() < dueMs) return false;
      const wallets = await listNext();
      for (const { walletId } of wallets) listed.add(walletId);
      const due = wallets.filter(({ walletId }) => pauses.isOver(walletId));
      if (due.length > 0) await confirmPage(chain, due);
      if (page !== undefined) return true;
      // What another process has confirmed is not asked about here.
      for (const walletId of bound.keys()) if (!listed.has(walletId)) bound.delete(walletId);
      pauses.keepOnly(listed);
      listed.clear();
      return false;
    },
  };
}

function isGap(
  { nonces, isComplete }: UnknownNonces,
  { nextNonce, hasLater }: Pick<LockedSender, "nextNonce" | "hasLater">,
): boolean {
  const isBelow = hasLater || nonces.length > 0;
  return isComplete && isBelow && nonces.every(({ nonce }) => nonce > nextNonce);
}
