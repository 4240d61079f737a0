import type { OrderChange } from "../../app/markets/market-store.js";
import type { Tracer } from "../../runtime/tracing/tracer.js";
import type { Tx } from "../core/database.js";
import { insertContexts, readRequestContexts } from "./trace-contexts.js";

/** A change of an order, as far as a trace shows it. */
type TracedOrderChange = Pick<
  OrderChange,
  "tenantId" | "id" | "version" | "state" | "previousState" | "failure"
>;

/**
 * Called when a unit of work of a market begins. What it returns is called in the same SQL transaction, while the orders are locked and the
 * event log is not.
 */
export type ObserveOrders = (
  market: string,
) => (tx: Tx, changes: readonly TracedOrderChange[]) => Promise<void>;

/**
 * Adds a span for each change of an order to the trace of the request that placed it: also if another order, hours later, has traded with
 * it. Costs a round trip for each batch.
 */
export function createOrderTracing(tracer: Tracer, showId: (orderId: string) => string): ObserveOrders {
  return (market) => {
    const startMs = tracer.nowMs();
    return async (tx, changes) => {
      if (changes.length === 0) return;
      const parents = await readRequestContexts(tx, [
        ...new Map(changes.map((one) => [one.id, one])).values(),
      ]);
      const traced = changes.flatMap((change) => {
        const parent = parents.get(change.id);
        if (parent === undefined) return [];
        const span = tracer.startChild(parent, { name: "match order", kind: "internal", startMs });
        return [{ change, span }];
      });
      if (traced.length === 0) return;
      tx.send(
        insertContexts(
          traced.map(({ change: { tenantId, id: subjectId, version }, span: { context } }) => {
            return { tenantId, subjectId, version, context };
          }),
        ),
      );
      tx.afterCommit(() => {
        for (const { change, span } of traced)
          span.end({
            "bursar.order.id": showId(change.id),
            "bursar.order.market": market,
            "bursar.order.state": change.state,
            "bursar.order.previous_state": change.previousState,
            "bursar.order.failure": change.failure ?? undefined,
            "bursar.batch.size": changes.length,
          });
      });
    };
  };
}
