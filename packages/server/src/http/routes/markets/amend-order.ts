import { AmendOrderBody, Order, OrderPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
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
      summary: "Make an order smaller",
      description:
        "Asks for it: the answer shows the order as it is now. It keeps its place in the book; where it is filled beyond the new size before its turn comes, it stays as it is.",
      params: OrderPath,
      body: AmendOrderBody,
      success: { status: 202, schema: Order },
      errors: ["ORDER_NOT_FOUND", "ORDER_NOT_OPEN", "SIZE_NOT_IN_LOTS"],
    },
    async (request, reply) => {
      const { tenantId } = principalOf(request).principal;
      const order = unwrap(await amend(tenantId, orderIdOf(request.params), request.body.size));
      reply.code(202);
      return presentOrder(order);
    },
  );
}
