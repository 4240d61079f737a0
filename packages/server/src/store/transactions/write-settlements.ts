import { isFinal } from "@bursar/domain";
import { type Balances, entriesOf } from "../../app/ledger/ledger-unit.js";
import type { Settlement } from "../../app/transactions/settlement.js";
import { writeTransactionDetails } from "../../app/transactions/transaction-details.js";
import { recordEnds } from "../access/stops/stop-records.js";
import { beginPayments } from "../chain/begin-payments.js";
import { requireKeys, type Tx } from "../core/database.js";
import { listKeys, locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { writeBalances, writeEntries } from "../ledger/ledger.js";
import { recordUsage } from "../policy/usage.js";
import { macOfRequirement } from "./transaction-integrity.js";

/**
 * Called when a unit of work begins. What it returns is called in the same SQL transaction before settlements are written, while their rows
 * are locked and the event log is not.
 */
export type ObserveUnit = () => (tx: Tx, settlements: readonly Settlement[]) => void | Promise<void>;

/** Writes what was decided, all of it or nothing. What is only sent travels together with the commit. */
export async function writeSettlements(
  tx: Tx,
  log: EventLog,
  settlements: readonly Settlement[],
  balances: Balances,
): Promise<void> {
  writeBalances(tx, balances);
  writeEntries(
    tx,
    settlements.flatMap(({ transaction, decision }) =>
      decision === undefined ? [] : entriesOf(transaction.id, decision.change),
    ),
  );
  writeOpen(tx, settlements);
  beginPayments(tx, settlements);
  recordEnds(tx, settlements.flatMap(endOf));
  writeJudgements(tx, settlements);
  await log.append(tx, settlements.flatMap(toEvent));
  recordUsage(tx, settlements);
}

/** A payment that ends otherwise than completed stays so, and one that requires approvals is not judged again. */
function endOf({ transaction, decision }: Settlement) {
  const { tenantId, id, kind, state } = transaction;
  if (decision === undefined || kind === "deposit") return [];
  const isEnd = isFinal(decision.state) && decision.state !== "completed";
  const isAsked = state === "accepted" && decision.state === "awaiting_approval";
  return isEnd || isAsked ? [{ tenantId, id, isEnd }] : [];
}

function toEvent({ transaction, decision, occurredAt, actorId }: Settlement) {
  const { tenantId, id, state, version } = transaction;
  // What changes no version, as the hold for a fee, is not an event.
  if (decision === undefined || decision.version === version) return [];
  return [
    {
      tenantId,
      event: "transaction.updated" as const,
      subjectId: id,
      version: decision.version,
      state: decision.state,
      previousState: state,
      failureCode: decision.failure,
      occurredAt,
      details: decision.details === null ? undefined : writeTransactionDetails(decision.details),
      actorId: actorId ?? null,
    },
  ];
}

/**
 * What is final is no longer open. What stays open has its new state, and no failure any more. The rows were locked by the claim. Of several
 * settlements of one transaction the last counts: an UPDATE that finds a row twice takes any of them.
 */
function writeOpen(tx: Tx, all: readonly Settlement[]): void {
  const last = new Map(all.map((one) => [`${one.transaction.tenantId} ${one.transaction.id}`, one]));
  const settlements = [...last.values()];
  const done = settlements.filter(({ decision }) => decision !== undefined && isFinal(decision.state));
  const kept = settlements.filter(({ decision }) => decision === undefined || !isFinal(decision.state));
  if (done.length > 0) {
    tx.send(sql`
      DELETE FROM open_transactions WHERE ctid = ANY (ARRAY(
        SELECT place FROM ${locateRows(sql`open_transactions`, listKeys(done.map((s) => s.transaction)))} AS done))
    `);
  }
  if (kept.length > 0) {
    const feeHold = ({ transaction, decision }: Settlement) => (decision ?? transaction).feeHold;
    tx.send(sql`
      UPDATE open_transactions o SET state = kept.state, version = kept.version, due_at = kept.due_at,
        fee_asset = kept.fee_asset, fee_held = kept.fee_held, attempts = kept.attempts, last_error = kept.last_error,
        retry_at = kept.retry_at
      FROM ${locateRows(
        sql`open_transactions`,
        sql`unnest(
        ${kept.map((s) => s.transaction.tenantId)}::uuid[], ${kept.map((s) => s.transaction.id)}::uuid[],
        ${kept.map((s) => s.decision?.state ?? s.transaction.state)}::text[],
        ${kept.map((s) => s.decision?.version ?? s.transaction.version)}::integer[], ${kept.map((s) => s.dueAt)}::timestamptz[],
        ${kept.map((s) => feeHold(s)?.asset ?? null)}::text[], ${kept.map((s) => feeHold(s)?.amount ?? 0n)}::numeric[],
        ${kept.map((s) => s.heldUntil ?? null)}::timestamptz[], ${kept.map((s) => (s.fault === undefined ? 0 : 1))}::smallint[],
        ${kept.map((s) => s.fault ?? null)}::text[]
      ) AS given (tenant_id, id, state, version, due_at, fee_asset, fee_held, retry_at, attempts, last_error)`,
      )} AS kept WHERE o.ctid = kept.place
    `);
  }
}

function writeJudgements(tx: Tx, settlements: readonly Settlement[]): void {
  const judged = settlements.flatMap(({ transaction: { tenantId, id }, judgement, occurredAt }) => {
    if (judgement === null) return [];
    const { requirement, policyVersion, rule } = judgement;
    // What requires no approval is decided when it is judged, and the judgement is only shown.
    const seal =
      requirement === null
        ? null
        : macOfRequirement(requireKeys(tx), {
            ...{ tenantId, id, requirement, judgedAt: occurredAt },
            judgedBy: { policyVersion, rule },
          });
    return [{ tenantId, id, occurredAt, seal, ...judgement }];
  });
  if (judged.length === 0) return;
  const column = <T>(pick: (one: (typeof judged)[number]) => T) => judged.map(pick);
  tx.send(sql`
    INSERT INTO judgements (tenant_id, transaction_id, policy_version, rule, reason, requirement, judged_at, key_id, mac)
    SELECT * FROM unnest(
      ${column((j) => j.tenantId)}::uuid[], ${column((j) => j.id)}::uuid[], ${column((j) => j.policyVersion)}::integer[],
      ${column((j) => j.rule)}::text[], ${column((j) => j.reason)}::text[],
      ${column((j) => (j.requirement === null ? null : JSON.stringify(j.requirement)))}::jsonb[],
      ${column((j) => j.occurredAt)}::timestamptz[], ${column((j) => j.seal?.keyId ?? null)}::text[],
      ${column((j) => (j.seal === null ? null : `\\x${j.seal.mac.toString("hex")}`))}::bytea[])
  `);
}
