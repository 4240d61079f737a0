import { ChangedWallet, FreezeWalletBody, WalletPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
import { walletIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

type Needed = Pick<UseCases, "setFrozen" | "presentWallet">;

/** Freezing and unfreezing differ only in the value that they set. */
function frozenRoute(frozen: boolean, { setFrozen, presentWallet }: Needed) {
  const verb = frozen ? "freeze" : "unfreeze";
  return defineRoute(
    {
      method: "POST",
      path: `/v1/wallets/:id/${verb}`,
      access: frozen ? "wallets:freeze" : "wallets:unfreeze",
      operationId: `${verb}Wallet`,
      // A stop must not wait for a passkey; what ends one must.
      ...(frozen ? {} : { passkey: true as const }),
      tag: "Wallets",
      summary: frozen ? "Freeze a wallet" : "Unfreeze a wallet",
      description: frozen
        ? "Transactions from it fail, and its orders are cancelled. The response is sent when the orders have left the books: from then on nothing leaves the wallet. To freeze a frozen wallet again changes nothing, unless another `reason` is given, which replaces the former one. If the orders take longer than five seconds, the response is 503 `UNAVAILABLE`; the wallet is frozen, and repeating the request waits for the remaining orders. The response has only the id and the state of the wallet if the client lacks `wallets:read`."
        : "Transactions from it are processed again. Orders that were cancelled stay cancelled. The response has only the id and the state of the wallet if the client lacks `wallets:read`.",
      params: WalletPath,
      ...(frozen ? { body: FreezeWalletBody, isBodyOptional: true as const, isStop: true as const } : {}),
      success: {
        status: 200,
        schema: ChangedWallet,
        description: "The wallet.",
        examples: frozen ? ["frozen", "frozen_summary"] : ["active", "active_summary"],
      },
      errors: ["WALLET_NOT_FOUND"],
    },
    async (request) => {
      const { reason } = (request.body ?? {}) as FreezeWalletBody;
      const origin = originOf(request);
      const wallet = unwrap(await setFrozen(origin, walletIdOf(request.params), frozen, reason));
      return presentChanged(origin, presentWallet(wallet));
    },
  );
}

export const freezeWallet = (useCases: Needed) => frozenRoute(true, useCases);
export const unfreezeWallet = (useCases: Needed) => frozenRoute(false, useCases);
