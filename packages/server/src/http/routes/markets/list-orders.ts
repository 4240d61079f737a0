import { OrderPage, OrderQuery } from "@bursar/protocol";
import type { Static } from "typebox";
import type { OrderFilter } from "../../../app/markets/order.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { readQueryId } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listOrders({
  listOrders: list,
  presentOrder,
}: Pick<UseCases, "listOrders" | "presentOrder">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/orders",
      access: "orders:read",
      operationId: "listOrders",
      tag: "Markets",
      summary: "List orders",
      description: "Newest first. Filters are combined with AND.",
      query: OrderQuery,
      success: { status: 200, schema: OrderPage, description: "A page of orders." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const found = await list(tenantId, toFilter(request.query), limit + 1, readCursor("orders", cursor));
      return toBoundedPage(request, "orders", found, limit, presentOrder);
    },
  );
}

function toFilter(query: Static<typeof OrderQuery>): OrderFilter {
  const { market, state, side, reference, wallet_id, client_id, created_after, created_before } = query;
  return {
    ...(market === undefined ? {} : { market }),
    ...(state === undefined ? {} : { state }),
    ...(side === undefined ? {} : { side }),
    ...(reference === undefined ? {} : { reference }),
    ...(wallet_id === undefined ? {} : { walletId: readQueryId("wlt", "wallet_id", wallet_id) }),
    ...(client_id === undefined ? {} : { clientId: readQueryId("cli", "client_id", client_id) }),
    ...(created_after === undefined ? {} : { createdAfter: new Date(created_after) }),
    ...(created_before === undefined ? {} : { createdBefore: new Date(created_before) }),
  };
}
