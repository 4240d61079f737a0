import type { NumberMetric } from "../../runtime/metric.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type { AuditDraft } from "./audit-entry.js";
import type { AuditRecorder } from "./audit-recorder.js";

export interface TamperReportsDeps {
  audit: Pick<AuditRecorder, "record">;
  metric: Pick<NumberMetric, "name" | "help">;
  entry: Pick<AuditDraft, "actor" | "action" | "code">;
  /** With the ids as they are shown. */
  onTampered: (object: string, tenantId: string) => void;
  now: () => number;
}

/** What is used again and again is reported once a minute by each process. */
const intervalMs = 60_000;
const knownMax = 1000;

/** Reports rows of one kind that somebody other than the service has written, in the log, a metric and the audit log of their tenant. */
export function createTamperReports({ audit, metric, entry, onTampered, now }: TamperReportsDeps) {
  const reported = createRecentCache<number>(knownMax);
  let count = 0;

  function report(tenantId: string, object: string): void {
    const nowMs = now();
    const name = `${tenantId} ${object}`;
    if (nowMs - (reported.get(name) ?? Number.NEGATIVE_INFINITY) < intervalMs) return;
    reported.set(name, nowMs);
    count += 1;
    onTampered(object, tenantId);
    audit.record({
      ...entry,
      tenantId,
      occurredAt: new Date(nowMs),
      clientId: null,
      tokenId: null,
      object,
      outcome: "refused",
      repeated: 1,
      requestId: null,
      address: null,
    });
  }

  return { report, metric: { ...metric, kind: "counter", read: () => count } satisfies NumberMetric };
}
