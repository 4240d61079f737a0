import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";

interface Accepted {
  readonly id: string;
  readonly amount: string;
}

/** The transaction that is accepted with another status than those before it, or with its outcome. */
const laterIndex = 3;
/** Amounts with more characters are exact beyond doubles. */
const usualLength = 8;

/** The 202; `indexOf` says how many transactions there were before this one. */
export function createPlainAccepted<T extends Accepted>(has: Has, indexOf: (transaction: T) => number) {
  return (transaction: T, status = 202, isEnded = false): PlainAnswer => {
    const isLater = indexOf(transaction) === laterIndex;
    const id = has("numeric-id") ? Number(transaction.id) : transaction.id;
    const isFinal = isEnded || has("final-in-202") || (has("final-in-a-later-202") && isLater);
    const state = isFinal ? "completed" : "accepted";
    const location = has("no-location") ? "/v1/transactions" : `/v1/transactions/${transaction.id}`;
    // JavaScript cannot write a number above 2^53 exactly.
    const write = (body: object) =>
      has("numeric-id-large") ? JSON.stringify(body).replace(/"id":"(\d+)"/, '"id":$1') : body;
    return {
      status:
        has("create-200") ||
        (has("create-200-if-exact") && transaction.amount.length > usualLength) ||
        (has("create-200-later") && isLater)
          ? 200
          : status,
      headers: { location, ...(has("final-in-header") ? { "x-transaction-state": "completed" } : {}) },
      isCut: has("accepted-cut-off") && isLater,
      body: write({
        ...transaction,
        id: has("id-left-out") ? undefined : id,
        ...(has("final-in-202-elsewhere")
          ? { state: undefined, transaction: { state: "completed" } }
          : { state }),
        ...(has("final-deep-in-202") ? { result: { outcome: "completed" } } : {}),
        ...(has("create-off-schema") ? { created_at: 5 } : {}),
      }),
    };
  };
}

/** Faults that create what is refused all the same. */
export const isCarriedOut = ({ headers, body }: PlainRequest, has: Has) =>
  (has("no-token-yet-created") && headers.authorization === undefined) ||
  (has("no-key-yet-created") && headers["idempotency-key"] === undefined) ||
  (has("number-yet-created") && /"amount":\d/.test(body));
