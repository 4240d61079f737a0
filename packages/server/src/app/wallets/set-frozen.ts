import { showId } from "@bursar/protocol";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { describeAct, type Origin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import type { CancelOrdersOfFrozenWallet } from "../markets/order-changes.js";
import type { Refused } from "../requests/refused.js";
import type { WalletStore, WalletWithBalances } from "./wallet.js";
import type { WalletDirectory } from "./wallet-directory.js";

export type SetFrozen = (
  origin: Origin,
  id: string,
  frozen: boolean,
  reason?: string,
) => Promise<WalletWithBalances | Refused>;

export interface FreezerDeps {
  store: Pick<WalletStore, "setFrozen" | "readWallet">;
  /** Knows the wallets that are used without asking the database, in which something can hold a lock. */
  wallets: Pick<WalletDirectory, "find">;
  stopInAnyCase: StopInAnyCase;
  cancelOrders: CancelOrdersOfFrozenWallet;
  /** Called when a wallet of a rail is frozen: what the rail has begun is stopped, if it can be. */
  onFrozen: () => void;
  /** Records a freeze of which only the stop was written. That of the operator is in the log of the command. */
  recorder: Pick<AuditRecorder, "record">;
  now: () => number;
}

/**
 * Freezes or unfreezes a wallet. To freeze what is frozen changes nothing, unless it gives another
 * reason. A freeze is answered when the wallet's orders are out of
 * the books: from then on nothing leaves it any more, except for what its network has already.
 */
export function createFreezer(deps: FreezerDeps): SetFrozen {
  const { store, wallets, stopInAnyCase, cancelOrders, onFrozen, recorder, now } = deps;
  return async (origin, id, frozen, reason) => {
    const tenantId = origin.by === "operator" ? origin.tenantId : origin.principal.tenantId;
    const action = frozen ? "wallet.freeze" : "wallet.unfreeze";
    // A freeze is safe in any case.
    const describe = frozen ? describeAct : describeReviewedAct;
    const described = describe(origin, action, showId("wlt", id), new Date(now()));
    const audit = { ...described, attempts: [], ...(reason === undefined ? {} : { reason }) };
    const act = () => store.setFrozen(tenantId, id, frozen, audit);
    const otherwise = () => store.readWallet(tenantId, id);
    const onRecorded = () => {
      if (origin.by !== "operator") recorder.record(audit);
    };
    // Found before anything can fail: of a freeze that fails the stop is recorded, for whatever has this id.
    if (frozen && (await wallets.find(tenantId, id)) === undefined) return { refused: "WALLET_NOT_FOUND" };
    const wallet = frozen
      ? await stopInAnyCase(
          { tenantId, subjectId: id },
          { act, otherwise, isDecided: () => true, onRecorded },
        )
      : await act();
    if (wallet === undefined) return { refused: "WALLET_NOT_FOUND" };
    if (!frozen) return wallet;
    if (wallet.address !== null) onFrozen();
    switch (await cancelOrders(tenantId, id)) {
      case "none":
        return wallet;
      case "cancelled":
        return (await store.readWallet(tenantId, id)) ?? wallet;
      case "remaining":
        return {
          refused: "UNAVAILABLE",
          message:
            "The wallet is frozen, but some of its orders are still in a book. Retry until they are cancelled.",
        };
    }
  };
}
