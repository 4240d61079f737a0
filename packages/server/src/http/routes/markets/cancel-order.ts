import { Order, OrderPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { orderIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function cancelOrder({
  cancelOrder: cancel,
  presentOrder,
}: Pick<UseCases, "cancelOrder" | "presentOrder">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/orders/:id",
      access: "orders:write",
      operationId: "cancelOrder",
      tag: "Markets",
      summary: "Cancel an order",
      description:
        "Asynchronous: the response shows the order as it is now. What is filled before the request is processed stays filled.",
      params: OrderPath,
      isStop: true,
      success: {
        status: 202,
        schema: Order,
        description: "The cancellation is accepted; the order as it is now.",
        examples: ["partially_filled"],
      },
      errors: ["ORDER_NOT_FOUND", "ORDER_NOT_OPEN"],
    },
    async (request, reply) => {
      const order = unwrap(await cancel(originOf(request), orderIdOf(request.params)));
      reply.code(202);
      return presentOrder(order);
    },
  );
}
