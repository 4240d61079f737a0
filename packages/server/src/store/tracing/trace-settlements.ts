import type { Settlement } from "../../app/transactions/settlement.js";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Span, Tracer } from "../../runtime/tracing/tracer.js";
import type { Tx } from "../core/database.js";
import type { ObserveUnit } from "../transactions/write-settlements.js";
import { insertContexts, readRequestContexts, requestVersion } from "./trace-contexts.js";

type Changed = Settlement & { decision: NonNullable<Settlement["decision"]> };

interface TracedChange {
  settlement: Changed;
  span: Span;
  /** Whether a trace begins with it. */
  isFirst: boolean;
}

/**
 * Adds a span to the trace of each settled transaction whose request is recorded. A deposit that is seen on a network has no request, so a
 * trace begins with it. Costs a round trip for each batch.
 */
export function createSettlementTracing(
  tracer: Tracer,
  showId: (transactionId: string) => string,
): ObserveUnit {
  return () => {
    const startMs = tracer.nowMs();
    return async (tx, settlements) => {
      const changed = settlements.filter(isChange);
      if (changed.length === 0) return;
      const traced = await beginSpans(tx, tracer, startMs, changed);
      if (traced.length > 0) record(tx, traced, showId, changed.length);
    };
  };
}

function isChange(settlement: Settlement): settlement is Changed {
  const { decision, transaction } = settlement;
  return decision !== undefined && decision.version !== transaction.version;
}

async function beginSpans(
  tx: Tx,
  tracer: Tracer,
  startMs: number,
  changed: readonly Changed[],
): Promise<TracedChange[]> {
  const stored = changed.filter((one) => one.trace === undefined && !isFirstSight(one));
  const parents = new Map<string, TraceContext>(
    stored.length === 0
      ? []
      : await readRequestContexts(
          tx,
          stored.map(({ transaction }) => transaction),
        ),
  );
  return changed.flatMap((settlement): TracedChange[] => {
    const { id } = settlement.transaction;
    const parent = settlement.trace ?? parents.get(id);
    if (parent !== undefined) {
      const span = tracer.startChild(parent, { name: "settle transaction", kind: "internal", startMs });
      return [{ settlement, span, isFirst: false }];
    }
    const span = isFirstSight(settlement)
      ? tracer.startTrace({ name: "observe deposit", kind: "internal", startMs })
      : undefined;
    if (span === undefined) return [];
    parents.set(id, span.context);
    return [{ settlement, span, isFirst: true }];
  });
}

/** Whether it is a deposit that was seen on its network for the first time. */
function isFirstSight({ transaction, decision }: Changed): boolean {
  return (
    transaction.kind === "deposit" && transaction.state === "accepted" && decision.state === "confirming"
  );
}

function record(
  tx: Tx,
  traced: readonly TracedChange[],
  showId: (transactionId: string) => string,
  batchSize: number,
): void {
  tx.send(
    insertContexts(
      traced.flatMap(({ settlement: { transaction, decision }, span: { context }, isFirst }) => {
        const { tenantId, id: subjectId } = transaction;
        const versions = isFirst ? [requestVersion, decision.version] : [decision.version];
        return versions.map((version) => ({ tenantId, subjectId, version, context }));
      }),
    ),
  );
  tx.afterCommit(() => {
    for (const { settlement, span } of traced) {
      const { transaction, decision } = settlement;
      span.end({
        "bursar.transaction.id": showId(transaction.id),
        "bursar.transaction.kind": transaction.kind,
        "bursar.transaction.state": decision.state,
        "bursar.transaction.previous_state": transaction.state,
        "bursar.transaction.failure": decision.failure ?? undefined,
        "bursar.batch.size": batchSize,
      });
    }
  });
}
