import { ChangedOrder, OrderPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
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
        "Asynchronous: the response shows the order as it is now. What is filled before the request is processed stays filled. The response has only the id and the state of the order if the client lacks `orders:read`.",
      params: OrderPath,
      isStop: true,
      success: {
        status: 202,
        schema: ChangedOrder,
        description: "The cancellation is accepted; the order as it is now.",
        examples: ["partially_filled", "summary"],
      },
      errors: ["ORDER_NOT_FOUND", "ORDER_NOT_OPEN"],
    },
    async (request, reply) => {
      const origin = originOf(request);
      const order = unwrap(await cancel(origin, orderIdOf(request.params)));
      reply.code(202);
      return presentChanged(origin, presentOrder(order));
    },
  );
}
