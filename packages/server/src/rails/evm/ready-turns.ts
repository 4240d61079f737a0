import type { ReadyPayment } from "../../app/chain/chain-store.js";
import type { ListedReady, ReadyTurn } from "../../app/chain/ready-page.js";

/**
 * Where the next look at payments without a nonce begins. It is only in memory: a process that has forgotten it begins with the first ones. Those
 * that cannot go on, because no node estimates them or their client is disabled, must not take the places of others of their wallet, whatever
 * their number is.
 */
export interface ReadyTurns {
  afterWalletId: string | undefined;
  /** Of wallets whose first payments cannot go on: the last that was looked at. */
  readonly afterIds: Map<string, string>;
  /** Of wallets with a turn: how many looks have found payments behind it. */
  readonly found: Map<string, number>;
}

export const createReadyTurns = (): ReadyTurns => ({
  afterWalletId: undefined,
  afterIds: new Map(),
  found: new Map(),
});

/** After as many the first payments are looked at again: what held them may have ended, and others may never end to arrive. */
const foundMax = 16;

/** The turns of all wallets that have one, with how many of their payments are passed over. */
export function turnsOf(
  { afterIds }: ReadyTurns,
  passedOver: ReadonlyMap<string, number>,
): ReadonlyMap<string, ReadyTurn> {
  const walletIds = new Set([...afterIds.keys(), ...passedOver.keys()]);
  return new Map(
    [...walletIds].map((walletId) => [
      walletId,
      { afterId: afterIds.get(walletId), passedOver: passedOver.get(walletId) ?? 0 },
    ]),
  );
}

/** The payments that are not passed over, of each wallet no more than may be in flight, without counting those that the signer has bound. */
export function chooseReady(
  turns: ReadyTurns,
  { payments, lookedUpTo }: ListedReady,
  {
    isPassedOver,
    isBound,
    inFlightMax,
  }: {
    isPassedOver: (payment: ReadyPayment) => boolean;
    isBound: (payment: ReadyPayment) => boolean;
    inFlightMax: number;
  },
): ReadyPayment[] {
  const counts = new Map<string, number>();
  const chosen = payments.filter((payment) => {
    if (isBound(payment)) return true;
    if (isPassedOver(payment)) return false;
    const count = (counts.get(payment.walletId) ?? 0) + 1;
    counts.set(payment.walletId, count);
    return count <= inFlightMax;
  });
  for (const walletId of counts.keys()) countFound(turns, walletId);
  for (const [walletId, lastId] of lookedUpTo) {
    if (counts.has(walletId)) continue;
    if (lastId === undefined) endTurn(turns, walletId);
    else turns.afterIds.set(walletId, lastId);
  }
  return chosen;
}

function countFound(turns: ReadyTurns, walletId: string): void {
  if (!turns.afterIds.has(walletId)) return;
  const found = (turns.found.get(walletId) ?? 0) + 1;
  if (found < foundMax) turns.found.set(walletId, found);
  else endTurn(turns, walletId);
}

function endTurn({ afterIds, found }: ReadyTurns, walletId: string): void {
  afterIds.delete(walletId);
  found.delete(walletId);
}
