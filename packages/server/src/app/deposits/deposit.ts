import type { DecidableTransaction } from "@bursar/domain";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { CallerReview } from "../clients/client.js";
import type { EarlierResult, OperatorRequest, OperatorResult } from "../requests/operator-request.js";
import type { Refused } from "../requests/refused.js";
import type { ClaimedTransaction, NewDeposit, SettlementUnit } from "../transactions/settlement.js";

/**
 * One SQL transaction that brings money into the book. Its methods are called in this order, which is the order of locks everywhere:
 * the caller, the key, the accounts, the audit log, the event log.
 */
export interface DepositUnit extends Pick<SettlementUnit, "insertDeposits" | "lockAccounts" | "write"> {
  /** Authenticates the caller again, and keeps it from being disabled before the commit. */
  reviewCaller: (tenantId: string, caller: CallerReview | undefined) => Promise<Refused | undefined>;
  /** The network of a wallet; undefined if the tenant has no such wallet. */
  findNetwork: (tenantId: string, walletId: string) => Promise<string | undefined>;
  /** Records a command of the operator; returns what a command with the same key did before. */
  recordRequest: (request: OperatorRequest, result: OperatorResult) => Promise<EarlierResult | undefined>;
  appendAudit: (entry: AuditDraft) => Promise<void>;
}

export interface DepositStore {
  /** Runs the work in one SQL transaction, and again from its beginning if accounts had to be created first. */
  unitOfWork: <T>(work: (unit: DepositUnit) => Promise<T>) => Promise<T>;
}

/** A deposit that was just inserted, as the ledger's decision sees it. No client is named: a deposit does not count towards limits. */
export function asClaimed(row: NewDeposit, network: string): ClaimedTransaction {
  const { tenantId, id, asset, amount, sourceAccountId, destinationAccountId, createdAt } = row;
  const accepted: DecidableTransaction = {
    tenantId,
    state: "accepted",
    version: 1,
    network,
    asset,
    amount,
    sourceAccountId,
    destinationAccountId,
    feeHold: null,
  };
  return { ...accepted, id, kind: "deposit", clientId: null, createdAt, countedAt: null };
}
