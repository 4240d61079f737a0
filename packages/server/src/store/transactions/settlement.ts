import {
  type AccountKey,
  type Approval,
  type ApprovalRequirement,
  accountName,
  timeOfUuidV7,
} from "@bursar/domain";
import type {
  ClaimedTransaction,
  PlanBatch,
  SettledTransaction,
  SettlementStore,
} from "../../app/transactions/settlement.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { type Statement, sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { createAccounts, lockAccounts } from "../ledger/accounts.js";
import { readUsage } from "../policy/usage.js";
import { writeSettlements } from "./write-settlements.js";

interface ClaimRow extends Omit<ClaimedTransaction, "amount" | "createdAt" | "approval"> {
  amount: string;
}

interface WaitingRow {
  id: string;
  requirement: ApprovalRequirement;
  askedAt: Date;
  approvals: ApprovalRow[];
}

interface ApprovalRow extends Omit<Approval, "atMs"> {
  at: string;
}

/** What another engine leaves for us meanwhile may need new accounts as well; the next look takes over where this many did not do. */
const roundsMax = 5;

/** Where money moves: claim, lock, decide, write. Each statement is set-based; what a batch costs does not grow by rounds. */
export function createSettlementStore(database: Database, log: EventLog): SettlementStore {
  async function settle(claim: Statement, plan: PlanBatch): Promise<SettledTransaction[]> {
    for (let round = 0; round < roundsMax; round++) {
      const result = await database.transaction(async (tx) => {
        const rows = await tx.query<ClaimRow>(selectClaimed(claim));
        if (rows.length === 0) return { settled: [] };
        const approvals = await readApprovals(tx, rows);
        return await settleClaimed(
          tx,
          log,
          rows.map((row) => readClaim(row, approvals.get(row.id) ?? null)),
          plan,
        );
      });
      if ("settled" in result) return result.settled;
      // What does not exist cannot be locked in its place in the order. So it is made while nothing is locked, and the batch
      // begins again; an account is new only once.
      await createAccounts(database, result.missing);
    }
    return [];
  }

  return {
    // Served by open_transactions_to_do. Rows that another engine holds are passed over.
    settleAccepted: ({ limit, passOver }, acceptedFrom, plan) =>
      settle(
        sql`WHERE state = 'accepted' AND retry_at IS NULL AND id >= ${idAt(acceptedFrom ?? new Date(0))}
          ORDER BY id LIMIT ${limit} OFFSET ${passOver} FOR UPDATE SKIP LOCKED`,
        plan,
      ),
    // Served by open_transactions_due.
    settleDue: ({ limit, passOver }, now, plan) =>
      settle(
        sql`WHERE state = 'awaiting_approval' AND retry_at IS NULL AND due_at <= ${now}
          ORDER BY due_at LIMIT ${limit} OFFSET ${passOver} FOR UPDATE SKIP LOCKED`,
        plan,
      ),
    // Served by the primary key.
    settleOne: (tenantId, id, plan) =>
      settle(sql`WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`, plan),
  };
}

/** The wallets are locked against a freeze: one that has been answered is obeyed, and one that comes now waits for this batch. */
function selectClaimed(claimed: Statement): Statement {
  return sql`
    WITH claimed AS (SELECT tenant_id, id, state, version, needs_judgement FROM open_transactions ${claimed})
    SELECT t.tenant_id AS "tenantId", t.id, c.state, c.version, t.client_id AS "clientId", t.asset, t.amount,
      t.source_account_id AS "sourceWalletId", t.destination_account_id AS "destinationWalletId", t.expires_at AS "expiresAt",
      w.frozen AS "sourceIsFrozen", w.purpose AS "sourcePurpose", w.network,
      c.needs_judgement AS "needsJudgement"
    FROM claimed c
    JOIN transactions t ON t.tenant_id = c.tenant_id AND t.id = c.id
    JOIN wallets w ON w.tenant_id = t.tenant_id AND w.id = t.source_account_id
    ORDER BY t.id FOR SHARE OF w
  `;
}

/**
 * What transactions wait for; whether a client would still be heard is what it is now. In a statement of its own, which sees all that
 * was committed before the rows were locked: whoever waited for a lock has them as they are then, but everything else as it was when
 * the waiting began. Served by primary keys.
 */
async function readApprovals(
  tx: Queryable,
  claimed: readonly ClaimRow[],
): Promise<Map<string, NonNullable<ClaimedTransaction["approval"]>>> {
  const waiting = claimed.filter(({ state }) => state === "awaiting_approval");
  if (waiting.length === 0) return new Map();
  const rows = await tx.query<WaitingRow>(sql`
    SELECT j.transaction_id AS id, j.requirement, j.judged_at AS "askedAt", (
      SELECT coalesce(jsonb_agg(jsonb_build_object('clientId', a.client_id, 'decision', a.decision, 'at', a.decided_at,
        'isEnabled', cl.state = 'active' AND 'transactions:approve' = ANY (cl.scopes)) ORDER BY a.version), '[]')
      FROM approvals a JOIN clients cl ON cl.id = a.client_id
      WHERE a.tenant_id = j.tenant_id AND a.transaction_id = j.transaction_id) AS approvals
    FROM unnest(${waiting.map((w) => w.tenantId)}::uuid[], ${waiting.map((w) => w.id)}::uuid[]) AS w (tenant_id, id)
    JOIN judgements j ON j.tenant_id = w.tenant_id AND j.transaction_id = w.id
  `);
  return new Map(
    rows.map(({ id, requirement, askedAt, approvals }) => [
      id,
      {
        requirement,
        askedAt,
        approvals: approvals.map(({ at, ...one }) => ({ ...one, atMs: Date.parse(at) })),
      },
    ]),
  );
}

/** Field by field, because every transaction comes by here: see `asAccepted`. */
function readClaim(row: ClaimRow, approval: ClaimedTransaction["approval"]): ClaimedTransaction {
  return {
    tenantId: row.tenantId,
    id: row.id,
    state: row.state,
    version: row.version,
    clientId: row.clientId,
    asset: row.asset,
    amount: BigInt(row.amount),
    sourceWalletId: row.sourceWalletId,
    destinationWalletId: row.destinationWalletId,
    expiresAt: row.expiresAt,
    // An id carries the same millisecond, and is read in a tenth of the time.
    createdAt: new Date(timeOfUuidV7(row.id)),
    sourceIsFrozen: row.sourceIsFrozen,
    sourcePurpose: row.sourcePurpose,
    network: row.network,
    needsJudgement: row.needsJudgement,
    approval,
  };
}

async function settleClaimed(
  tx: Tx,
  log: EventLog,
  claimed: readonly ClaimedTransaction[],
  plan: PlanBatch,
): Promise<{ settled: SettledTransaction[] } | { missing: AccountKey[] }> {
  const { now, windows, decide } = await plan(claimed);
  // Sums are read under the tenant's lock, so that of two engines the second sees what the first has let pass.
  if (windows.length > 0)
    await lockTenants(
      tx,
      windows.map(({ tenantId }) => tenantId),
    );
  const usage = await readUsage(tx, windows, now);
  const keys = accountsOf(claimed);
  const accounts = await lockAccounts(tx, keys);
  if (accounts.size < keys.length) return { missing: keys };
  const settlements = decide(accounts, usage);
  await writeSettlements(tx, log, settlements, accounts);
  const changed = settlements.filter(({ decision }) => decision !== undefined);
  return { settled: changed.map(({ transaction: { tenantId, id } }) => ({ tenantId, id })) };
}

// Served by the primary key.
export async function lockTenants(tx: Queryable, tenantIds: readonly string[]): Promise<void> {
  const ids = [...new Set(tenantIds)];
  await tx.query(sql`SELECT FROM tenants WHERE id = ANY (${ids}::uuid[]) ORDER BY id FOR NO KEY UPDATE`);
}

function accountsOf(claimed: readonly ClaimedTransaction[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const { tenantId, asset, sourceWalletId, destinationWalletId } of claimed) {
    for (const accountId of [sourceWalletId, destinationWalletId]) {
      keys.set(accountName({ tenantId, accountId, asset }), { tenantId, accountId, asset });
    }
  }
  return [...keys.values()];
}
