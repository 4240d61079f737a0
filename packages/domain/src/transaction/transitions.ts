/**
 * The life of a transaction, in one table. The documentation's page and diagram, `GET /v1/transaction-states` and every change
 * that the service makes come from here.
 */
export const transactionStates = {
  accepted: { final: false, holdsFunds: false, meaning: "It is durable and has not been judged yet." },
  awaiting_approval: {
    final: false,
    holdsFunds: true,
    meaning: "Policy asks for people; its funds are held.",
  },
  processing: { final: false, holdsFunds: true, meaning: "Its funds are held and its rail is at work." },
  broadcast: { final: false, holdsFunds: true, meaning: "Its signed bytes are with the network." },
  confirming: { final: false, holdsFunds: true, meaning: "It is in a block that is not final yet." },
  completed: { final: true, holdsFunds: false, meaning: "The money has moved." },
  rejected: { final: true, holdsFunds: false, meaning: "Policy or a person has refused it." },
  failed: { final: true, holdsFunds: false, meaning: "It could not be done; nothing has moved." },
  cancelled: { final: true, holdsFunds: false, meaning: "It was called off in time." },
} as const satisfies Record<string, { final: boolean; holdsFunds: boolean; meaning: string }>;

export type TransactionState = keyof typeof transactionStates;

/** What can happen to a transaction. */
export const transactionEvents = [
  "settle",
  "ask_approval",
  "begin",
  "broadcast",
  "include",
  "finalise",
  "reorganise",
  "reject",
  "fail",
  "cancel",
] as const;

export type TransactionEvent = (typeof transactionEvents)[number];

/** Where each event leads from each state; what is not listed cannot happen. */
export const transitions: Readonly<
  Record<TransactionState, Partial<Record<TransactionEvent, TransactionState>>>
> = {
  accepted: {
    settle: "completed",
    ask_approval: "awaiting_approval",
    begin: "processing",
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
