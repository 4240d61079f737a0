import { type TransactionState, transactionStates, transitions } from "@bursar/domain";

/** The table of states as the API shows it. */
export function describeTransactionStates() {
  return (Object.keys(transactionStates) as TransactionState[]).map((state) => ({
    state,
    meaning: transactionStates[state].meaning,
    final: transactionStates[state].final,
    next: [...new Set(Object.values(transitions[state]))],
  }));
}
