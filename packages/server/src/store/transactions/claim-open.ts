import type {
  TenantChoice,
  TenantClaim,
  TransactionKey,
  WaitingWork,
  WorkSearch,
} from "../../app/transactions/settlement.js";
import type { Queryable } from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { hasKey, listKeys } from "../core/rows/locate-rows.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { type Statement, sql } from "../core/sql.js";

/** What a claim reads of an open transaction, `o`. */
const openColumns = sql`o.tenant_id, o.id, o.state, o.version, o.needs_judgement, o.fee_asset, o.fee_held, o.cancel_requested,
  o.cancel_requested_by`;

const isAccepted = sql`o.state = 'accepted' AND o.retry_at IS NULL`;

/*
 * Each of these is the part of a statement that makes `claimed`: the rows of open transactions that are locked for this unit of work.
 */

/** Served by open_transactions_to_do: one range for each tenant. */
export function claimAccepted(tenants: readonly TenantClaim[], perTenantMax: number): Statement {
  return sql`claimed AS MATERIALIZED (
    SELECT o.* FROM unnest(
      ${tenants.map(({ tenantId }) => tenantId)}::uuid[],
      ${tenants.map(({ acceptedFrom }) => idAt(acceptedFrom))}::uuid[]
    ) AS turn (tenant_id, from_id)
    CROSS JOIN LATERAL (
      SELECT ${openColumns} FROM open_transactions o
      WHERE ${isAccepted} AND o.tenant_id = turn.tenant_id AND o.id >= turn.from_id
      ORDER BY o.id LIMIT ${perTenantMax} FOR UPDATE SKIP LOCKED) AS o)`;
}

/**
 * Served by open_transactions_to_do, open_transactions_due and open_transactions_to_retry. The time is compared in the index: of entries
 * that are older, no row is fetched to find out that it was settled.
 */
export async function findWork(source: Queryable, search: WorkSearch): Promise<WaitingWork> {
  const { limit, afterTenantId, acceptedFrom = new Date(0), now } = search;
  const accepted = {
    table: sql`open_transactions`,
    where: sql`${isAccepted} AND o.id >= ${idAt(acceptedFrom)}::uuid`,
    key: sql`o.id`,
  };
  const after = afterTenantId === undefined ? undefined : sql`${afterTenantId}::uuid`;
  const [found] = await source.query<WaitingWork>(sql`
    WITH RECURSIVE waiting AS (${waitingTenants(accepted, { limit, after })})
    SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object('tenantId', tenant_id, 'firstId', first) ORDER BY tenant_id), '[]')
        FROM waiting) AS tenants,
      ${isAnyDue(waitingForApproval, now)} AS "hasDue", ${isAnyDue(waitingForRetry, now)} AS "hasRetries"
  `);
  return found ?? { tenants: [], hasDue: false, hasRetries: false };
}

/** Rows that become due. One index has them by their time, which says whether anything is due, and one by tenant and time. */
interface DueRows {
  where: Statement;
  time: Statement;
}

/** Served by open_transactions_due and open_transactions_due_of_tenant. */
export const waitingForApproval: DueRows = {
  where: sql`o.state = 'awaiting_approval' AND o.retry_at IS NULL`,
  time: sql`o.due_at`,
};

/** Served by open_transactions_to_retry and open_transactions_to_retry_of_tenant. What a rail works on fails nowhere but in its driver. */
export const waitingForRetry: DueRows = {
  where: sql`o.retry_at IS NOT NULL AND o.state IN ('accepted', 'awaiting_approval')`,
  time: sql`o.retry_at`,
};

function isAnyDue({ where, time }: DueRows, now: Date): Statement {
  return sql`EXISTS (SELECT FROM open_transactions o WHERE ${where} AND ${time} <= ${now}::timestamptz)`;
}

/** Takes the same share of what is due from every tenant, so that what becomes due together for one does not delay another. */
export function claimFairly(
  { where, time }: DueRows,
  limit: number,
  now: Date,
  tenants: TenantChoice = { except: [] },
): Statement {
  const isChosen =
    "only" in tenants
      ? sql`tenant_id = ${tenants.only}`
      : sql`tenant_id <> ALL (${[...tenants.except]}::uuid[])`;
  const table = sql`open_transactions`;
  const onlyIf = isAnyDue({ where, time }, now);
  return sql`
    waiting AS (${waitingTenants({ table, where, key: time }, { limit: tenantsLookedAtMax, onlyIf })}),
    due AS (
      SELECT tenant_id FROM waiting WHERE first <= ${now}::timestamptz AND ${isChosen} ORDER BY first LIMIT ${limit}),
    claimed AS MATERIALIZED (
      SELECT o.* FROM due CROSS JOIN LATERAL (
        SELECT ${openColumns} FROM ${table} o WHERE ${where} AND o.tenant_id = due.tenant_id AND ${time} <= ${now}::timestamptz
        ORDER BY ${time} LIMIT (SELECT ${limit}::bigint / count(*) FROM due) FOR UPDATE SKIP LOCKED) AS o)`;
}

/** Far more than there are; one look takes some microseconds. */
const tenantsLookedAtMax = 100_000;

/** Served by the primary key. */
export function claimAgain(keys: readonly TransactionKey[]): Statement {
  return claimByKeys(keys, sql`o.state IN ('accepted', 'awaiting_approval') FOR UPDATE SKIP LOCKED`);
}

/** Served by the primary key. */
export function claimOne({ tenantId, id }: TransactionKey): Statement {
  return sql`claimed AS MATERIALIZED (
    SELECT ${openColumns} FROM open_transactions o WHERE o.tenant_id = ${tenantId} AND o.id = ${id} FOR UPDATE)`;
}

/** The same row without a lock. Served by the primary key. */
export function lookAtOne({ tenantId, id }: TransactionKey): Statement {
  return sql`claimed AS MATERIALIZED (
    SELECT ${openColumns} FROM open_transactions o WHERE o.tenant_id = ${tenantId} AND o.id = ${id})`;
}

/** Served by the primary key, in whose order the rows are locked. */
export function claimOnRail(keys: readonly TransactionKey[]): Statement {
  const inOrder = keys.toSorted((a, b) => (`${a.tenantId} ${a.id}` < `${b.tenantId} ${b.id}` ? -1 : 1));
  return claimByKeys(inOrder, sql`o.state IN ('processing', 'broadcast', 'confirming') FOR UPDATE`);
}

function claimByKeys(keys: readonly TransactionKey[], where: Statement): Statement {
  return sql`claimed AS MATERIALIZED (
    SELECT o.* FROM ${listKeys(keys)}
    CROSS JOIN LATERAL (
      SELECT ${openColumns} FROM open_transactions o
      WHERE ${hasKey(sql`o`, sql`given`)} AND ${where}) AS o)`;
}
