import { showId } from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ReadTransaction } from "../transactions/read-transaction.js";
import type { TransactionKey } from "../transactions/settlement.js";
import type { Transaction } from "../transactions/transaction.js";

export interface SpeedUpDeps {
  /** Records the request; false if the payment was not sent yet, is in a block, or is being cancelled. */
  requestSpeedUp: (key: TransactionKey, clientId: string) => Promise<boolean>;
  read: ReadTransaction;
  onRequested: () => void;
  audit: Pick<AuditRecorder, "recordAct">;
}

export type SpeedUpTransaction = (origin: ClientOrigin, id: string) => Promise<Transaction | Refused>;

/** Asks for a payment to be sent again with higher fees. The driver of its network does so when it comes to it, up to the fee cap. */
export function createSpeedUp({ requestSpeedUp, read, onRequested, audit }: SpeedUpDeps): SpeedUpTransaction {
  return async (origin, id) => {
    const { tenantId, clientId } = origin.principal;
    const isRequested = await requestSpeedUp({ tenantId, id }, clientId);
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    if (!isRequested) return { refused: "NOT_REPLACEABLE" };
    audit.recordAct(origin, "transaction.speed_up", showId("tx", id));
    onRequested();
    return transaction;
  };
}
