import { Wallet, WalletPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { walletIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readWallet({
  readWallet: read,
  presentWallet,
}: Pick<UseCases, "readWallet" | "presentWallet">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/wallets/:id",
      access: "wallets:read",
      operationId: "readWallet",
      tag: "Wallets",
      summary: "Read a wallet and its balances",
      description: "`available` can be spent; `held` is reserved for open transactions and orders.",
      params: WalletPath,
      success: {
        status: 200,
        schema: Wallet,
        description: "The wallet and its balances.",
        examples: ["active", "frozen"],
      },
      errors: ["WALLET_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentWallet(unwrap(await read(tenantId, walletIdOf(request.params))));
    },
  );
}
