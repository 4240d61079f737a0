import { showId } from "@bursar/protocol";
import { describeAct, type Origin } from "../audit/act.js";
import type { Refused } from "../refused.js";
import type { WalletStore, WalletWithBalances } from "./wallet.js";

export type SetFrozen = (
  origin: Origin,
  id: string,
  frozen: boolean,
) => Promise<WalletWithBalances | Refused>;

/** Freezes or unfreezes a wallet. To freeze what is frozen changes nothing. */
export function createFreezer(store: Pick<WalletStore, "setFrozen">, nowMs: () => number): SetFrozen {
  return async (origin, id, frozen) => {
    const tenantId = origin.by === "operator" ? origin.tenantId : origin.principal.tenantId;
    const action = frozen ? "wallet.freeze" : "wallet.unfreeze";
    const audit = describeAct(origin, action, showId("wlt", id), new Date(nowMs()));
    return (await store.setFrozen(tenantId, id, frozen, audit)) ?? { refused: "WALLET_NOT_FOUND" };
  };
}
