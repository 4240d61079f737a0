import { OrderPage, OrderQuery } from "@bursar/protocol";
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
      const { limit = 50, cursor, market, state, side, client_id } = request.query;
      const filter = {
        ...(market === undefined ? {} : { market }),
        ...(state === undefined ? {} : { state }),
        ...(side === undefined ? {} : { side }),
        ...(client_id === undefined ? {} : { clientId: readQueryId("cli", "client_id", client_id) }),
      };
      const { tenantId } = principalOf(request).principal;
      const found = await list(tenantId, filter, limit + 1, readCursor("orders", cursor));
      return toBoundedPage("orders", found, limit, presentOrder);
    },
  );
}
