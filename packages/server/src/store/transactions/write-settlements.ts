import { type Balance, isFinal } from "@bursar/domain";
import type { Settlement } from "../../app/transactions/settlement.js";
import type { Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { writeAccounts } from "../ledger/accounts.js";
import { recordUsage } from "../policy/usage.js";

/** Writes what was decided, all of it or nothing. What is only sent travels together with the commit. */
export async function writeSettlements(
  tx: Tx,
  log: EventLog,
  settlements: readonly Settlement[],
  accounts: ReadonlyMap<string, Balance>,
): Promise<void> {
  writeAccounts(tx, accounts);
  writeEntries(tx, settlements);
  writeOpen(tx, settlements);
  writeJudgements(tx, settlements);
  await log.append(tx, settlements.flatMap(toEvent));
  recordUsage(tx, settlements);
}

function toEvent({ transaction: { tenantId, id, state }, decision, occurredAt }: Settlement) {
  if (decision === undefined) return [];
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
    },
  ];
}

function writeEntries(tx: Tx, settlements: readonly Settlement[]): void {
  const moved = settlements.flatMap(({ transaction: settled, decision }) =>
    decision !== undefined && decision.moved > 0n ? [{ settled, amount: decision.moved }] : [],
  );
  if (moved.length === 0) return;
  tx.send(sql`
    INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
    SELECT tenant_id, transaction_id, 1, debit, credit, asset, amount FROM unnest(
      ${moved.map((m) => m.settled.tenantId)}::uuid[], ${moved.map((m) => m.settled.id)}::uuid[],
      ${moved.map((m) => m.settled.sourceWalletId)}::uuid[], ${moved.map((m) => m.settled.destinationWalletId)}::uuid[],
      ${moved.map((m) => m.settled.asset)}::text[], ${moved.map((m) => m.amount)}::numeric[]
    ) AS moved (tenant_id, transaction_id, debit, credit, asset, amount)
  `);
}

/** What is final is no longer open; what waits for people says until when. */
function writeOpen(tx: Tx, settlements: readonly Settlement[]): void {
  const done = settlements.filter(({ decision }) => decision !== undefined && isFinal(decision.state));
  const kept = settlements.filter(({ decision }) => decision === undefined || !isFinal(decision.state));
  if (done.length > 0) {
    tx.send(sql`
      DELETE FROM open_transactions o USING unnest(
        ${done.map((s) => s.transaction.tenantId)}::uuid[], ${done.map((s) => s.transaction.id)}::uuid[]
      ) AS done (tenant_id, id) WHERE o.tenant_id = done.tenant_id AND o.id = done.id
    `);
  }
  if (kept.length > 0) {
    tx.send(sql`
      UPDATE open_transactions o SET state = kept.state, version = kept.version, due_at = kept.due_at
      FROM unnest(
        ${kept.map((s) => s.transaction.tenantId)}::uuid[], ${kept.map((s) => s.transaction.id)}::uuid[],
        ${kept.map((s) => s.decision?.state ?? s.transaction.state)}::text[],
        ${kept.map((s) => s.decision?.version ?? s.transaction.version)}::integer[], ${kept.map((s) => s.dueAt)}::timestamptz[]
      ) AS kept (tenant_id, id, state, version, due_at) WHERE o.tenant_id = kept.tenant_id AND o.id = kept.id
    `);
  }
}

function writeJudgements(tx: Tx, settlements: readonly Settlement[]): void {
  const judged = settlements.flatMap(({ transaction: { tenantId, id }, judgement, occurredAt }) =>
    judgement === null ? [] : [{ tenantId, id, occurredAt, ...judgement }],
  );
  if (judged.length === 0) return;
  const column = <T>(pick: (one: (typeof judged)[number]) => T) => judged.map(pick);
  tx.send(sql`
    INSERT INTO judgements (tenant_id, transaction_id, policy_version, rule, reason, requirement, judged_at)
    SELECT * FROM unnest(
      ${column((j) => j.tenantId)}::uuid[], ${column((j) => j.id)}::uuid[], ${column((j) => j.policyVersion)}::integer[],
      ${column((j) => j.rule)}::text[], ${column((j) => j.reason)}::text[],
      ${column((j) => (j.requirement === null ? null : JSON.stringify(j.requirement)))}::jsonb[],
      ${column((j) => j.occurredAt)}::timestamptz[])
  `);
}
