import { describeOrderStates, OrderStates } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

export const listOrderStates = defineRoute(
  {
    method: "GET",
    path: "/v1/order-states",
    access: "orders:read",
    operationId: "listOrderStates",
    tag: "Markets",
    summary: "The states of an order and where each may lead",
    success: { status: 200, schema: OrderStates },
    errors: [],
  },
  () => ({ data: describeOrderStates() }),
);
