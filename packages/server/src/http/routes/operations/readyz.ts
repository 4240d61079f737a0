import { Readiness as ReadinessBody } from "@bursar/protocol";
import type { Readiness } from "../../../runtime/readiness.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

export function readyz(readiness: Readiness) {
  return defineRoute(
    {
      method: "GET",
      path: "/readyz",
      access: "open",
      operationId: "getReadiness",
      tag: "Operations",
      summary: "Whether the service can take work",
      description:
        "Load balancers ask here. 503 while the service starts, stops, or cannot reach its database.",
      success: { status: 200, schema: ReadinessBody },
      errors: ["UNAVAILABLE"],
    },
    async () => {
      const state = readiness.state();
      if (state !== "ready") throw unavailable("service", `is ${state}`);
      await readiness.checkDatabase().catch((cause: unknown) => {
        throw unavailable("database", "is down", cause);
      });
      return { status: "ready", checks: { database: "up" } };
    },
  );
}

function unavailable(path: string, reason: string, cause?: unknown): Refusal {
  return new Refusal("UNAVAILABLE", { details: [{ path, reason }], headers: { "retry-after": "1" }, cause });
}
