import { decideOnBalances } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { isWithRail, type Rails } from "../rails/rail.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ChangeHub } from "./change-hub.js";
import { listBehind } from "./list-behind.js";
import type { ReadTransaction } from "./read-transaction.js";
import { accountsOf, type SettlementStore } from "./settlement.js";
import type { Transaction } from "./transaction.js";

export interface CancelTransactionDeps {
  settlements: Pick<SettlementStore, "unitOfWork">;
  stopInAnyCase: StopInAnyCase;
  rails: Pick<Rails, "get">;
  read: ReadTransaction;
  changes: ChangeHub;
  /** Called when the cancellation of a transaction was requested that its rail is working on. */
  onRequested: () => void;
  audit: Pick<AuditRecorder, "recordAct">;
  now: () => number;
}

/** Set when the transaction is found to be one that can be cancelled at once. */
interface Found {
  isTampered?: boolean;
}

type Outcome = "cancelled" | "requested" | "closed" | "tampered" | "stopped";

export type CancelTransaction = (origin: ClientOrigin, id: string) => Promise<Transaction | Refused>;

/**
 * Cancels a transaction that no rail has begun to work on. If one has, the cancellation is only requested: its funds stay held until
 * the rail says what became of it, because signed bytes that are out can still be paid; also if its chain or signer may be ahead of the books. To
 * cancel again what was cancelled is a success. One whose rows were changed in the database, so that it cannot be cancelled, is recorded as ended: it is not paid, what it holds
 * stays held, and the audit log says who has stopped it.
 */
export function createTransactionCanceller(deps: CancelTransactionDeps): CancelTransaction {
  const { settlements, stopInAnyCase, rails, read, changes, onRequested, audit, now } = deps;

  function cancel(origin: ClientOrigin, id: string): Promise<Outcome> {
    const { tenantId, clientId } = origin.principal;
    const found: Found = {};
    return stopInAnyCase<Outcome>(
      { tenantId, subjectId: id },
      {
        act: () => cancelNow(tenantId, id, clientId, found),
        otherwise: async () => (found.isTampered === true ? "tampered" : "stopped"),
        // What a rail works on is not stopped by a record, because it may be paid already.
        isDecided: () => found.isTampered !== undefined,
        onRecorded: () => audit.recordAct(origin, "transaction.cancel", showId("tx", id)),
      },
    );
  }

  function cancelNow(
    tenantId: string,
    id: string,
    actorId: string,
    found: Found,
  ): Promise<"cancelled" | "requested" | "closed"> {
    return settlements.unitOfWork(async (unit) => {
      const transaction = await unit.claimPayment({ tenantId, id });
      if (transaction === undefined) return "closed";
      if (isWithRail(transaction.state)) {
        if (!rails.get(transaction.network).mayCancel(transaction.state)) return "closed";
        await unit.requestCancel({ tenantId, id }, actorId);
        return "requested";
      }
      // It may have been made, and the books have forgotten it. It ends when the chain and the signer were asked, or the operator has looked.
      if ((await listBehind(unit, rails, [transaction])).size > 0) {
        await unit.requestCancel({ tenantId, id }, actorId);
        return "requested";
      }
      found.isTampered = transaction.isTampered === true;
      // What it holds is not known.
      if (found.isTampered) throw new Error("the rows of the transaction were changed");
      const balances = await unit.lockAccounts(accountsOf([transaction]));
      const decision = decideOnBalances(transaction, { kind: "cancel", fee: null }, balances);
      if (typeof decision === "string")
        throw new Error(`cancelling is ${decision} in the state ${transaction.state}`);
      // The clock of the process that accepted it may be ahead of this one; nothing happens before it was accepted.
      const occurredAt = new Date(Math.max(now(), transaction.createdAt.getTime()));
      await unit.write(
        [{ transaction, decision, occurredAt, dueAt: null, judgement: null, actorId }],
        balances,
      );
      return "cancelled";
    });
  }

  return async (origin, id) => {
    const { tenantId } = origin.principal;
    const outcome = await cancel(origin, id);
    if (outcome === "tampered") return { refused: "TRANSACTION_TAMPERED" };
    if (outcome === "cancelled" || outcome === "requested")
      audit.recordAct(origin, "transaction.cancel", showId("tx", id));
    if (outcome === "cancelled") changes.publish([id]);
    if (outcome === "requested") onRequested();
    const transaction = await read(tenantId, id);
    if (isRefused(transaction) || outcome === "requested" || outcome === "stopped") return transaction;
    return transaction.steps.at(-1)?.state === "cancelled" ? transaction : { refused: "NOT_CANCELLABLE" };
  };
}
