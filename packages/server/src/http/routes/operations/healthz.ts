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
    description: "For supervisors that restart a process which hangs. It says nothing about the database.",
    success: { status: 200, schema: Liveness, description: "The process responds." },
    errors: [],
  },
  () => ({ status: "alive" as const }),
);
