import { showId } from "@bursar/protocol";
import type { NumberMetric } from "../../runtime/metric.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { TransactionKey } from "./settlement.js";

export interface TamperedTransactionsDeps {
  audit: Pick<AuditRecorder, "record">;
  /** With the ids as they are shown. */
  onTampered: (ids: { tenant_id: string; transaction_id: string }) => void;
  now: () => number;
}

/** Reports transactions that were set aside because something other than the service has changed them in the database. */
export function createTransactionTamperReports({ audit, onTampered, now }: TamperedTransactionsDeps) {
  let count = 0;
  const metric: NumberMetric = {
    name: "bursar_tampered_transactions_total",
    help: "Transactions that were set aside because their row was changed in the database.",
    kind: "counter",
    read: () => count,
  };

  function report({ tenantId, id }: TransactionKey): void {
    count += 1;
    const object = showId("tx", id);
    onTampered({ tenant_id: showId("tnt", tenantId), transaction_id: object });
    audit.record({
      tenantId,
      occurredAt: new Date(now()),
      actor: "service",
      clientId: null,
      tokenId: null,
      action: "transaction.tampered",
      object,
      outcome: "refused",
      code: "TRANSACTION_TAMPERED",
      repeated: 1,
      requestId: null,
      address: null,
    });
  }

  return { report, metric };
}
