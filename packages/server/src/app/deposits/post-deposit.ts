import { type Asset, decideOnBalances, externalAccountId, timeOfUuidV7 } from "@bursar/domain";
import type { TraceContext } from "../../runtime/tracing/trace-context.js";
import type { AuditDraft } from "../audit/audit-entry.js";
import { actorIdOfAct } from "../events/actor.js";
import { accountsOf, type NewDeposit } from "../transactions/settlement.js";
import type { TransactionStep } from "../transactions/transaction.js";
import { asClaimed, type DepositUnit } from "./deposit.js";

/** A deposit to a wallet of the book. */
export interface DepositDraft {
  tenantId: string;
  id: string;
  /** Null if the operator makes it. */
  clientId: string | null;
  /** Begins with a word and a space: clients cannot send spaces, so no key of a payment is the same. */
  idempotencyKey: string;
  requestHash: string;
  reference: string;
  asset: Asset;
  amount: bigint;
  walletId: string;
  metadata: Readonly<Record<string, string>> | null;
  /** The span of the request, if it is recorded. */
  trace?: TraceContext | undefined;
}

/**
 * Stores a deposit and settles it, with its audit entry and its event. It is not spending, so no policy judges it and no limit counts it.
 * Returns the step that completed it; undefined if its key was used before, in which case nothing is written.
 */
export async function postDeposit(
  unit: DepositUnit,
  draft: DepositDraft,
  audit: AuditDraft,
): Promise<TransactionStep | undefined> {
  const row = toRow(draft);
  const isNew = await unit.insertDeposits([row]);
  if (!isNew.has(row.id)) return undefined;
  const transaction = asClaimed(row, draft.asset.network);
  const balances = await unit.lockAccounts(accountsOf([transaction]));
  const decision = decideOnBalances(transaction, { kind: "settle" }, balances);
  if (typeof decision === "string") throw new Error(`settling a deposit is ${decision}`);
  // Clocks differ; nothing happens before the deposit was accepted.
  const occurredAt = new Date(Math.max(audit.occurredAt.getTime(), row.createdAt.getTime()));
  const actorId = actorIdOfAct(audit);
  await unit.appendAudit(audit);
  const { trace } = draft;
  await unit.write(
    [{ transaction, decision, occurredAt, dueAt: null, judgement: null, actorId, trace }],
    balances,
  );
  const { version, state } = decision;
  return { version, state, failure: null, occurredAt, details: null, actorId };
}

function toRow(draft: DepositDraft): NewDeposit {
  const { asset, walletId, trace: _, ...given } = draft;
  return {
    ...given,
    asset: asset.code,
    sourceAccountId: externalAccountId(asset.network),
    sourceAddress: null,
    destinationAccountId: walletId,
    createdAt: new Date(timeOfUuidV7(draft.id)),
  };
}
