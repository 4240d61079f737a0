/**
 * The life of a transaction, in one table. The documentation's page and diagram, `GET /v1/transaction-states` and every change
 * that the service makes come from here.
 */
export const transactionStates = {
  accepted: { final: false, holdsFunds: false, meaning: "It is stored and has not been judged yet." },
  awaiting_approval: {
    final: false,
    holdsFunds: true,
    meaning: "Policy requires approvals; its funds are held.",
  },
  processing: {
    final: false,
    holdsFunds: true,
    meaning: "Its funds are held and its rail is working on it.",
  },
  broadcast: { final: false, holdsFunds: true, meaning: "Its signed bytes were sent to the network." },
  confirming: { final: false, holdsFunds: true, meaning: "It is in a block that is not final yet." },
  completed: { final: true, holdsFunds: false, meaning: "Its amount has moved." },
  rejected: { final: true, holdsFunds: false, meaning: "Policy or an approver rejected it." },
  failed: {
    final: true,
    holdsFunds: false,
    meaning: "Its amount has not moved. A network can still have charged a fee.",
  },
  cancelled: {
    final: true,
    holdsFunds: false,
    meaning: "It was cancelled before its amount moved. A network can still have charged a fee.",
  },
} as const satisfies Record<string, { final: boolean; holdsFunds: boolean; meaning: string }>;

export type TransactionState = keyof typeof transactionStates;

/** The events that change a transaction's state. */
export const transactionEvents = [
  "settle",
  "ask_approval",
  "begin",
  "broadcast",
  "include",
  "observe",
  "finalise",
  "reorganise",
  "reject",
  "fail",
  "cancel",
] as const;

/** Where each event leads from each state; what is not listed cannot happen. */
export const transitions: Readonly<
  Record<TransactionState, Partial<Record<(typeof transactionEvents)[number], TransactionState>>>
> = {
  accepted: {
    settle: "completed",
    ask_approval: "awaiting_approval",
    begin: "processing",
    observe: "confirming",
    reject: "rejected",
    fail: "failed",
    cancel: "cancelled",
  },
  awaiting_approval: {
    settle: "completed",
    begin: "processing",
    reject: "rejected",
    fail: "failed",
    cancel: "cancelled",
  },
  processing: { settle: "completed", broadcast: "broadcast", fail: "failed", cancel: "cancelled" },
  broadcast: { include: "confirming", fail: "failed", cancel: "cancelled" },
  confirming: { finalise: "completed", fail: "failed", reorganise: "broadcast" },
  completed: {},
  rejected: {},
  failed: {},
  cancelled: {},
};

export function isFinal(state: TransactionState): boolean {
  return transactionStates[state].final;
}
