import { PageQuery, WalletPage } from "@bursar/protocol";
import type { UseCases } from "../../app/use-cases.js";
import { principalOf } from "../access/guard.js";
import { readCursor, writeCursor } from "../cursor.js";
import { defineRoute } from "../route.js";

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
      query: PageQuery,
      success: { status: 200, schema: WalletPage },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const wallets = await list(tenantId, limit + 1, readCursor("wallets", cursor));
      const page = wallets.slice(0, limit);
      return {
        data: page.map(presentWallet),
        next_cursor: wallets.length > limit ? writeCursor("wallets", page.at(-1)?.id ?? "") : null,
      };
    },
  );
}
