import { AmendOrderBody, ChangedOrder, OrderPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
import { orderIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function amendOrder({
  amendOrder: amend,
  presentOrder,
}: Pick<UseCases, "amendOrder" | "presentOrder">) {
  return defineRoute(
    {
      method: "PATCH",
      path: "/v1/orders/:id",
      access: "orders:write",
      operationId: "amendOrder",
      tag: "Markets",
      summary: "Reduce the size of an order",
      description:
        "Asynchronous: the response shows the order as it is now. The order keeps its place in the book. If it is filled beyond the new size before the request is processed, it stays unchanged. The response has only the id and the state of the order if the client lacks `orders:read`.",
      params: OrderPath,
      body: AmendOrderBody,
      success: {
        status: 202,
        schema: ChangedOrder,
        description: "The amendment is accepted; the order as it is now.",
        examples: ["partially_filled", "summary"],
      },
      errors: ["ORDER_NOT_FOUND", "ORDER_NOT_OPEN", "SIZE_NOT_IN_LOTS"],
    },
    async (request, reply) => {
      const origin = originOf(request);
      const order = unwrap(await amend(origin, orderIdOf(request.params), request.body.size));
      reply.code(202);
      return presentChanged(origin, presentOrder(order));
    },
  );
}
