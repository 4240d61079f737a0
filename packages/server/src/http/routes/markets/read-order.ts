import { Order, OrderPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { orderIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readOrder({ readOrder: read, presentOrder }: Pick<UseCases, "readOrder" | "presentOrder">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/orders/:id",
      access: "orders:read",
      operationId: "readOrder",
      tag: "Markets",
      summary: "Read an order",
      description: "Shows what is filled, what remains, and why it ended.",
      params: OrderPath,
      success: {
        status: 200,
        schema: Order,
        description: "The order.",
        examples: ["partially_filled", "cancelled"],
      },
      errors: ["ORDER_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentOrder(unwrap(await read(tenantId, orderIdOf(request.params))));
    },
  );
}
