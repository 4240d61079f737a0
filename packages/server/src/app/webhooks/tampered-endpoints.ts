import { showId } from "@bursar/protocol";
import { createTamperReports, type TamperReportsDeps } from "../audit/tamper-reports.js";
import type { WebhookEndpoint } from "./endpoint.js";

/** Reports endpoints whose row somebody other than the service has written. Nothing is sent to them. */
export function createEndpointTamperReports(deps: Omit<TamperReportsDeps, "metric" | "entry">) {
  const { report, metric } = createTamperReports({
    ...deps,
    metric: {
      name: "bursar_tampered_endpoints_total",
      help: "Reports of webhook endpoints that nothing is sent to because their row was changed in the database.",
    },
    entry: { actor: "service", action: "webhook_endpoint.tampered", code: "WEBHOOK_ENDPOINT_TAMPERED" },
  });
  return {
    report: ({ tenantId, id }: Pick<WebhookEndpoint, "tenantId" | "id">) =>
      report(tenantId, showId("whe", id)),
    metric,
  };
}
