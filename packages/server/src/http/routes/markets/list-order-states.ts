import { describeOrderStates, OrderStates } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

export const listOrderStates = defineRoute(
  {
    method: "GET",
    path: "/v1/order-states",
    access: "orders:read",
    operationId: "listOrderStates",
    tag: "Markets",
    summary: "List the states of an order and their transitions",
    description: "An order starts as `pending`; a final state never changes.",
    success: { status: 200, schema: OrderStates, description: "All states, with what each can become." },
    errors: [],
  },
  () => ({ data: describeOrderStates() }),
);
