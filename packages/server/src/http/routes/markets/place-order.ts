import { Order, PlaceOrderBody } from "@bursar/protocol";
import { itemsOfPayments } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { requireIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function placeOrder({
  placeOrder: place,
  countLimits,
  presentOrder,
}: Pick<UseCases, "placeOrder" | "countLimits" | "presentOrder">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/orders",
      access: "orders:write",
      operationId: "placeOrder",
      tag: "Markets",
      summary: "Place an order",
      description:
        "Accepted for asynchronous processing: the response is sent once the order is durable, before its funds are held and it reaches the book. Repeating the key with the same body returns the original response; with a different body it is refused. Keys do not expire.",
      body: PlaceOrderBody,
      itemsOf: (_body, tenantId) => itemsOfPayments(1, countLimits(tenantId)),
      idempotent: "required",
      success: {
        status: 202,
        schema: Order,
        description: "The order is durable and will be processed.",
        headers: ["Location", "Retry-After"],
        examples: ["pending"],
      },
      errors: [
        "IDEMPOTENCY_KEY_MISSING",
        "MARKET_UNKNOWN",
        "PRICE_NOT_IN_TICKS",
        "PRICE_OUT_OF_BAND",
        "SIZE_NOT_IN_LOTS",
        "AMOUNT_PRECISION_EXCEEDED",
        "WALLET_UNKNOWN",
        "NETWORK_MISMATCH",
        "POLICY_REJECTED",
        "OVERLOADED",
      ],
    },
    async (request, reply) => {
      const key = requireIdempotencyKey(request);
      const placed = await place(originOf(request), key, request.body, request.span?.context);
      const { order, replayed } = unwrap(placed);
      const body = presentOrder(order);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202).header("location", `/v1/orders/${body.id}`).header("retry-after", "1");
      return body;
    },
  );
}
