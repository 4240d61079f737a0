import { isFinal } from "@bursar/domain";
import { createHistogram, createLabelledCounter, type Metric } from "../../runtime/metric.js";
import type { Settlement } from "../transactions/settlement.js";
import type { AcceptedTransaction } from "../transactions/transaction.js";

export interface TransactionMetrics {
  /** Called after the commit. */
  countAccepted: (accepted: readonly AcceptedTransaction[]) => void;
  /** Called after the commit. */
  countSettled: (settlements: readonly Settlement[]) => void;
  metrics: readonly Metric[];
}

const durationBoundsSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86_400];

/** What this process has accepted and moved from state to state; of all processes together it is the sum. */
export function createTransactionMetrics(): TransactionMetrics {
  const entered = createLabelledCounter(["kind", "state"]);
  const durations = createHistogram(["kind", "state"], durationBoundsSeconds);
  return {
    countAccepted: (accepted) => {
      for (const { parties } of accepted) entered.add([parties.kind, "accepted"]);
    },
    countSettled: (settlements) => {
      for (const { transaction, decision, occurredAt } of settlements) {
        if (decision === undefined || decision.state === transaction.state) continue;
        const labels = [transaction.kind, decision.state];
        entered.add(labels);
        if (isFinal(decision.state))
          durations.observe(labels, (occurredAt.getTime() - transaction.createdAt.getTime()) / 1000);
      }
    },
    metrics: [
      {
        name: "bursar_transactions_total",
        help: "Transactions that have entered a state, by kind.",
        kind: "counter",
        read: entered.samples,
      },
      {
        name: "bursar_transaction_duration_seconds",
        help: "The time from the acceptance of a transaction to its final state.",
        kind: "histogram",
        read: durations.read,
      },
    ],
  };
}
