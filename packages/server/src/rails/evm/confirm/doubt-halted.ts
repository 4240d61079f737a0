import type { UnconfirmedPage, UnconfirmedWallet } from "../../../app/chain/unconfirmed-wallet.js";
import { type FollowedChain, inUnit, positionOf } from "../driver/driver-context.js";
import { askSigner } from "./ask-signer.js";
import type { ConfirmationDeps } from "./confirmation.js";
import { doubtInUnit } from "./doubt-wallets.js";
import { createPauses } from "./pauses.js";

/** As many as are asked about in one question to the signer. */
const walletsMax = 32;
const lookEveryMs = 1000;
/** What the signer has said of a wallet does not change while it is halted, unless it has not answered. */
const pauseMaxMs = 60_000;

/**
 * Asks the signer about wallets that were confirmed when they were halted, because the chain or the signer is ahead of them. If it has signed
 * payments that the database does not know, the database was restored and nothing has noticed it. Then payments of other wallets may have been
 * made too, and must not end until the operator adopts this one. Otherwise the key was used elsewhere, and no other wallet is concerned.
 * Returns whether any is doubted.
 */
export function createHaltedLook(deps: ConfirmationDeps): (chain: FollowedChain) => Promise<boolean> {
  let dueMs = Number.NEGATIVE_INFINITY;
  /** Where the round goes on; undefined between two rounds. */
  let page: UnconfirmedPage | undefined;
  const listed = new Set<string>();
  const pauses = createPauses(deps.monotonicMs, { firstMs: lookEveryMs, maxMs: pauseMaxMs });

  async function ask(chain: FollowedChain, wallets: readonly UnconfirmedWallet[]): Promise<boolean> {
    // Also if it does not answer at all, which fails.
    for (const { walletId } of wallets) pauses.pause(walletId);
    const unknown = new Set<string>();
    await askSigner(deps, wallets, async (nonces) => {
      const found = await inUnit(deps, positionOf(chain), (unit) => unit.listUnknownNonces(nonces));
      for (const { walletId } of found.filter(({ isNoted }) => !isNoted)) unknown.add(walletId);
      return unknown;
    });
    const doubted = wallets.filter(({ walletId }) => unknown.has(walletId));
    if (doubted.length === 0) return false;
    await inUnit(deps, positionOf(chain), async (unit) => {
      await unit.lockSenders(doubted);
      await doubtInUnit(deps, unit, doubted);
    });
    return true;
  }

  return async (chain) => {
    if (deps.monotonicMs() < dueMs) return false;
    dueMs = deps.monotonicMs() + lookEveryMs;
    const { wallets, next } = await deps.store.listUnconfirmed(
      deps.network.network,
      page ?? { of: "halted", after: undefined, limit: walletsMax },
    );
    page = next;
    for (const { walletId } of wallets) listed.add(walletId);
    const due = wallets.filter(({ walletId }) => pauses.isOver(walletId));
    if (next === undefined) {
      pauses.keepOnly(listed);
      listed.clear();
    }
    return due.length > 0 && (await ask(chain, due));
  };
}
