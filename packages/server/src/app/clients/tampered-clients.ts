import { showId } from "@bursar/protocol";
import { LRUCache } from "lru-cache";
import type { NumberMetric } from "../../runtime/metric.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { ApiClient } from "./client.js";

export interface TamperedClientsDeps {
  audit: AuditRecorder;
  onTampered: (clientId: string) => void;
  now: () => number;
}

/** A client that keeps trying is reported once a minute by each process. */
const intervalMs = 60_000;
const knownMax = 1000;

/** Reports clients whose row or credentials somebody other than the service has written. They are refused like disabled ones. */
export function createTamperReports({ audit, onTampered, now }: TamperedClientsDeps) {
  const reported = new LRUCache<string, number>({ max: knownMax });
  let count = 0;
  const metric: NumberMetric = {
    name: "bursar_tampered_clients_total",
    help: "Reports of clients that were refused because their row or credentials were changed in the database.",
    kind: "counter",
    read: () => count,
  };

  function report({ id, tenantId }: ApiClient): void {
    const nowMs = now();
    if (nowMs - (reported.get(id) ?? Number.NEGATIVE_INFINITY) < intervalMs) return;
    reported.set(id, nowMs);
    count += 1;
    const object = showId("cli", id);
    onTampered(object);
    audit.record({
      tenantId,
      occurredAt: new Date(nowMs),
      actor: "anonymous",
      clientId: null,
      tokenId: null,
      action: "client.tampered",
      object,
      outcome: "refused",
      code: "CLIENT_TAMPERED",
      repeated: 1,
      requestId: null,
      address: null,
    });
  }

  /** Passes the client on, and reports it if necessary. */
  function watch<Client extends ApiClient | undefined>(client: Client): Client {
    if (client?.isTampered === true) report(client);
    return client;
  }

  return { watch, metric };
}
