import { Liveness } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

export const healthz = defineRoute(
  {
    method: "GET",
    path: "/healthz",
    access: "open",
    operationId: "getLiveness",
    tag: "Operations",
    summary: "Check that the process is alive",
    success: { status: 200, schema: Liveness },
    errors: [],
  },
  () => ({ status: "alive" as const }),
);
