import { WalletPage, WalletQuery } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listWallets({
  listWallets: list,
  presentWallet,
}: Pick<UseCases, "listWallets" | "presentWallet">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/wallets",
      access: "wallets:read",
      operationId: "listWallets",
      tag: "Wallets",
      summary: "List wallets and their balances",
      description: "Newest first. Filters are combined with AND.",
      query: WalletQuery,
      success: { status: 200, schema: WalletPage, description: "A page of wallets and their balances." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor, ...filter } = request.query;
      const { tenantId } = principalOf(request).principal;
      const wallets = await list(tenantId, filter, limit + 1, readCursor("wallets", cursor));
      return toBoundedPage(request, "wallets", wallets, limit, presentWallet);
    },
  );
}
