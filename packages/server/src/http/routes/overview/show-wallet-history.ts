import { WalletHistory, WalletHistoryQuery, WalletPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { walletIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { readRange } from "./read-range.js";

export function showWalletHistory({ showWalletHistory: show }: Pick<UseCases, "showWalletHistory">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/wallets/:id/history",
      access: "wallets:read",
      operationId: "showWalletHistory",
      tag: "Overview",
      summary: "Read the balances of a wallet over time",
      description: "`lag` says how current it is.",
      params: WalletPath,
      query: WalletHistoryQuery,
      success: { status: 200, schema: WalletHistory, description: "The balance at the end of each period." },
      errors: ["WALLET_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const { asset, period = "day" } = request.query;
      const walletId = walletIdOf(request.params);
      const { points, lag } = unwrap(
        await show({ tenantId, walletId, asset, period, ...readRange(request.query) }),
      );
      return {
        asset,
        period,
        data: points.map((point) => ({ ...point, start: point.start.toISOString() })),
        lag,
      };
    },
  );
}
