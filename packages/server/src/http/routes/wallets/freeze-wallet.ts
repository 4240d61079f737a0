import { Wallet, WalletPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { walletIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

type Needed = Pick<UseCases, "setFrozen" | "presentWallet">;

/** Freezing and unfreezing are one thing done in two directions. */
function frozenRoute(frozen: boolean, { setFrozen, presentWallet }: Needed) {
  const verb = frozen ? "freeze" : "unfreeze";
  return defineRoute(
    {
      method: "POST",
      path: `/v1/wallets/:id/${verb}`,
      access: "wallets:write",
      operationId: `${verb}Wallet`,
      tag: "Wallets",
      summary: frozen ? "Freeze a wallet: it sends nothing" : "Unfreeze a wallet",
      ...(frozen
        ? {
            description:
              "Transactions from it fail, and its orders are called off. The answer comes when they are out of the books: from then on nothing leaves the wallet. Where they are not out after five seconds it is 503 `UNAVAILABLE`; the wallet is frozen then, and the same request again waits for the rest.",
          }
        : {}),
      params: WalletPath,
      success: { status: 200, schema: Wallet },
      errors: ["WALLET_NOT_FOUND"],
    },
    async (request) =>
      presentWallet(unwrap(await setFrozen(originOf(request), walletIdOf(request.params), frozen))),
  );
}

export const freezeWallet = (useCases: Needed) => frozenRoute(true, useCases);
export const unfreezeWallet = (useCases: Needed) => frozenRoute(false, useCases);
