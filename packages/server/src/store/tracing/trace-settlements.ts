import type { Settlement } from "../../app/transactions/settlement.js";
import type { Tracer } from "../../runtime/tracing/tracer.js";
import type { Tx } from "../core/database.js";
import type { ObserveUnit } from "../transactions/write-settlements.js";
import { insertSettlementContexts, readRequestContexts } from "./trace-contexts.js";

/** Adds a span to the trace of each settled transaction whose request is recorded. Costs a round trip for each batch. */
export function createSettlementTracing(
  tracer: Tracer,
  showId: (transactionId: string) => string,
): ObserveUnit {
  return () => {
    const startMs = tracer.nowMs();
    return async (tx, settlements) => {
      const changed = settlements.filter(({ decision, transaction }) => {
        return decision !== undefined && decision.version !== transaction.version;
      });
      if (changed.length > 0) await traceChanged(tx, { tracer, showId, startMs }, changed);
    };
  };
}

async function traceChanged(
  tx: Tx,
  { tracer, showId, startMs }: { tracer: Tracer; showId: (transactionId: string) => string; startMs: number },
  changed: readonly Settlement[],
): Promise<void> {
  const parents = await readRequestContexts(
    tx,
    changed.map(({ transaction }) => transaction),
  );
  const spans = changed.flatMap(({ transaction, decision }) => {
    const parent = parents.get(transaction.id);
    if (parent === undefined || decision === undefined) return [];
    const span = tracer.startChild(parent, { name: "settle transaction", kind: "internal", startMs });
    return [{ span, transaction, decision }];
  });
  if (spans.length === 0) return;
  tx.send(
    insertSettlementContexts(
      spans.map(({ span, transaction: { tenantId, id }, decision: { version } }) => {
        return { tenantId, transactionId: id, version, context: span.context };
      }),
    ),
  );
  tx.afterCommit(() => {
    for (const { span, transaction, decision } of spans)
      span.end({
        "bursar.transaction.id": showId(transaction.id),
        "bursar.transaction.kind": transaction.kind,
        "bursar.transaction.state": decision.state,
        "bursar.transaction.previous_state": transaction.state,
        "bursar.transaction.failure": decision.failure ?? undefined,
        "bursar.batch.size": changed.length,
      });
  });
}
