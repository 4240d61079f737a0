import { showId } from "@bursar/protocol";
import type { AuditDraft, ClientOrigin } from "../audit/audit-entry.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ReadTransaction } from "../transactions/read-transaction.js";
import type { TransactionKey } from "../transactions/settlement.js";
import type { Transaction } from "../transactions/transaction.js";
import type { SignedHolds } from "./stop-payment.js";

/** What decides whether a payment that waits for a block can be sped up. */
export interface SpeedUpFacts extends SignedHolds {
  /** The payment of the same wallet with the lowest nonce, if this one waits for it. */
  behindId: string | null;
  /** A lower nonce of the wallet was taken back, and no payment has it yet. */
  waitsForFree: boolean;
}

export interface SpeedUpDeps {
  /** Undefined if the payment was not sent yet, or is in a block. */
  readFacts: (key: TransactionKey) => Promise<SpeedUpFacts | undefined>;
  /** Records the request with its audit entry; false if the payment does not wait for a block any more. */
  requestSpeedUp: (key: TransactionKey, clientId: string, audit: AuditDraft) => Promise<boolean>;
  read: ReadTransaction;
  onRequested: () => void;
  now: () => number;
}

export type SpeedUpTransaction = (origin: ClientOrigin, id: string) => Promise<Transaction | Refused>;

/** Asks for a payment to be sent again with higher fees. The driver of its network does so when it comes to it, up to twice the fees of the market. */
export function createSpeedUp(deps: SpeedUpDeps): SpeedUpTransaction {
  const { readFacts, requestSpeedUp, read, onRequested, now } = deps;
  return async (origin, id) => {
    const { tenantId, clientId } = origin.principal;
    const key = { tenantId, id };
    const facts = await readFacts(key);
    const reason = facts === undefined ? undefined : explainRefusal(facts);
    const audit = describeReviewedAct(origin, "transaction.speed_up", showId("tx", id), new Date(now()));
    const canRequest = facts !== undefined && reason === undefined;
    const isRequested = canRequest && (await requestSpeedUp(key, clientId, audit));
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    if (reason !== undefined) return { refused: "NOT_REPLACEABLE", details: [{ path: "path.id", reason }] };
    if (!isRequested) return { refused: "NOT_REPLACEABLE" };
    onRequested();
    return transaction;
  };
}

function explainRefusal(facts: SpeedUpFacts): string | undefined {
  if (facts.cancelRequested) return "It is being cancelled.";
  if (facts.isFrozen || facts.isFreezing) return "Its source wallet is frozen.";
  if (facts.isSuspended) return "Its tenant is suspended.";
  if (facts.isDisabled) return "The client that requested it is disabled.";
  if (facts.waitsForFree)
    return "A lower nonce of the same wallet is not used yet. Higher fees do not help before another payment has it.";
  if (facts.behindId === null) return undefined;
  return `${showId("tx", facts.behindId)} of the same wallet has a lower nonce and is included first. Speed up that one.`;
}
