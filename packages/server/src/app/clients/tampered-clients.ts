import { showId } from "@bursar/protocol";
import { createTamperReports, type TamperReportsDeps } from "../audit/tamper-reports.js";
import type { ApiClient } from "./client.js";

/** Reports clients whose row or credentials somebody other than the service has written. They are refused like disabled ones. */
export function createClientTamperReports(deps: Omit<TamperReportsDeps, "metric" | "entry">) {
  const { report, metric } = createTamperReports({
    ...deps,
    metric: {
      name: "bursar_tampered_clients_total",
      help: "Reports of clients that were refused because their row or credentials were changed in the database.",
    },
    entry: { actor: "anonymous", action: "client.tampered", code: "CLIENT_TAMPERED" },
  });

  /** Passes the client on, and reports it if necessary. */
  function watch<Client extends ApiClient | undefined>(client: Client): Client {
    if (client?.isTampered === true) report(client.tenantId, showId("cli", client.id));
    return client;
  }

  return { watch, report, metric };
}
