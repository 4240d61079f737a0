import type { AuditFilter, ListedAuditEntry } from "../../../app/audit/audit-entry.js";
import type { Listed } from "../../../app/requests/listed.js";
import type { Queryable } from "../../core/database.js";
import {
  type IdRange,
  newest,
  newestWith,
  selectBoundedPage,
  toListed,
  whereAllOf,
} from "../../core/rows/bounded-page.js";
import { joinStatements, type Statement, sql } from "../../core/sql.js";
import { findEntries } from "./audit-rows.js";

export interface AuditPage {
  tenantId: string;
  filter: AuditFilter;
  limit: number;
  /** The last number of the page before. */
  before: bigint | undefined;
}

/** A page of the entries that match a filter, newest first. It reads a bounded number of entries. */
export async function findPage(source: Queryable, page: AuditPage): Promise<Listed<ListedAuditEntry>> {
  const { tenantId, filter, limit, before } = page;
  const range = await findRange(source, tenantId, filter, before);
  const rows = await source.query<{ id: string; isEnd: boolean }>(selectNumbers(page, range));
  const { items, scannedTo } = toListed(rows, ({ id }) => id);
  const isOnPage = sql`AND number = ANY(${items}::bigint[])`;
  return { items: await findEntries(source, tenantId, isOnPage, limit), scannedTo };
}

/**
 * The numbers of a page. The most selective condition leads, by the index that is named after it, and the others are looked at entry by
 * entry.
 */
function selectNumbers({ tenantId, filter, limit }: AuditPage, range: IdRange): Statement {
  const { requestId, object, clientId, actions, actor, outcome } = filter;
  const bounded = (lead: Lead, ...leading: readonly (keyof AuditFilter)[]) =>
    selectBoundedPage({ lead, rest: looked(tenantId, conditionsOf(filter, leading)), limit });
  const withValue = (column: Statement, value: string): Lead => {
    return (max) => sql`
      SELECT a.number AS id FROM audit_entries a
      WHERE a.tenant_id = ${tenantId} ${newestWith(column, sql`a.number`, value, range, max)}`;
  };

  if (requestId !== undefined) return bounded(withValue(sql`a.request_id`, requestId), "requestId");
  if (object !== undefined) return bounded(ofObject(tenantId, filter, object, range), "object");
  if (actions !== undefined && canLead(actions)) {
    const lead = newestOf(actions.exact.map((action) => withValue(sql`a.action`, action)));
    const bound = actions.exact.length > 2 ? "narrow" : "wide";
    return selectBoundedPage({
      lead,
      rest: looked(tenantId, conditionsOf(filter, ["actions"])),
      limit,
      bound,
    });
  }
  if (actor !== undefined && actor !== "client") return bounded(ofOthers(tenantId, actor, range), "actor");
  if (clientId !== undefined) return bounded(withValue(sql`a.client_id`, clientId), "clientId");
  if (outcome === "refused") return bounded(refused(tenantId, range), "outcome");
  return bounded(
    (max) => sql`
    SELECT a.number AS id FROM audit_entries a WHERE a.tenant_id = ${tenantId} ${newest(sql`a.number`, range, max)}`,
  );
}

type Lead = (rowsMax: Statement) => Statement;

/** Each action is a part of the index of its own. Of more of them, as of a prefix, the newest entries are looked at. */
const leadingActionsMax = 4;

function canLead({ exact, prefixes }: NonNullable<AuditFilter["actions"]>): boolean {
  return prefixes.length === 0 && exact.length <= leadingActionsMax;
}

/** Each of the leads is newest first, and none of them has an entry of another. */
function newestOf(leads: readonly Lead[]): Lead {
  const [only, ...others] = leads;
  if (only !== undefined && others.length === 0) return only;
  return (max) => {
    const all = joinStatements(
      leads.map((lead) => sql`(${lead(max)})`),
      " UNION ALL ",
    );
    return sql`SELECT w.id FROM (${all}) w ORDER BY w.id DESC LIMIT ${max}`;
  };
}

/** The conditions of a filter on an entry, besides those that lead. */
function conditionsOf(filter: AuditFilter, leading: readonly (keyof AuditFilter)[]): Statement[] {
  const { requestId, object, clientId, actions, actor, outcome } = filter;
  const { occurredAfter, occurredBefore } = filter;
  const conditions: Partial<Record<keyof AuditFilter, Statement | undefined>> = {
    requestId: requestId === undefined ? undefined : sql`a.request_id IS NOT DISTINCT FROM ${requestId}`,
    object:
      object === undefined
        ? undefined
        : sql`(a.object IS NOT DISTINCT FROM ${object} OR coalesce(a.objects @> ${[object]}::text[], false))`,
    clientId: clientId === undefined ? undefined : sql`a.client_id IS NOT DISTINCT FROM ${clientId}`,
    actions:
      actions === undefined
        ? undefined
        : sql`(a.action = ANY(${actions.exact}::text[])
            OR EXISTS (SELECT FROM unnest(${actions.prefixes}::text[]) p WHERE starts_with(a.action, p)))`,
    actor: actor === undefined ? undefined : sql`a.actor = ${actor}`,
    outcome: outcome === undefined ? undefined : sql`a.outcome = ${outcome}`,
    occurredAfter: occurredAfter === undefined ? undefined : sql`a.occurred_at >= ${occurredAfter}`,
    occurredBefore: occurredBefore === undefined ? undefined : sql`a.occurred_at < ${occurredBefore}`,
  };
  for (const name of leading) delete conditions[name];
  return Object.values(conditions).filter((condition) => condition !== undefined);
}

function looked(tenantId: string, conditions: readonly Statement[]): Statement | undefined {
  return whereAllOf(sql`audit_entries a WHERE a.tenant_id = ${tenantId} AND a.number = s.id`, conditions);
}

function refused(tenantId: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT a.number AS id FROM audit_entries a
    WHERE a.tenant_id = ${tenantId} AND a.outcome = 'refused' ${newest(sql`a.number`, range, max)}`;
}

/** Entries of clients are nearly all entries, and are not in this index. */
function ofOthers(tenantId: string, actor: string, range: IdRange): Lead {
  return (max) => sql`
    SELECT a.number AS id FROM audit_entries a
    WHERE a.tenant_id = ${tenantId} AND a.actor <> 'client'
      ${newestWith(sql`a.actor`, sql`a.number`, actor, range, max)}`;
}

/**
 * Entries about an object, and the one in which its creation was merged with others. An index on the lists of merged entries would be
 * written for each transaction; instead, the entries around the time in the object's id are looked at, by audit_entries_by_time.
 */
function ofObject(tenantId: string, { objectCreatedAt }: AuditFilter, object: string, range: IdRange): Lead {
  const own = (max: Statement) => sql`
    SELECT a.number AS id FROM audit_entries a
    WHERE a.tenant_id = ${tenantId} AND a.object IS NOT NULL
      ${newestWith(sql`a.object`, sql`a.number`, object, range, max)}`;
  if (objectCreatedAt === undefined) return own;
  const from = new Date(objectCreatedAt.getTime() - mergedMs);
  const to = new Date(objectCreatedAt.getTime() + mergedMs);
  const merged = (max: Statement) => sql`
    SELECT m.id FROM (
      SELECT a.number AS id, a.objects FROM audit_entries a
      WHERE a.tenant_id = ${tenantId} AND a.occurred_at >= ${from} AND a.occurred_at < ${to}
      ORDER BY a.occurred_at DESC, a.number DESC LIMIT ${mergedEntriesMax}
    ) m WHERE m.objects @> ${[object]}::text[] AND m.id >= ${range.least} AND m.id < ${range.end} LIMIT ${max}`;
  return (max) => sql`
    SELECT w.id FROM ((${own(max)}) UNION (${merged(max)})) w ORDER BY w.id DESC LIMIT ${max}`;
}

/** An entry has the time of the first act that was merged into it, at most half a second earlier, unless the database was busy. */
const mergedMs = 5000;
const mergedEntriesMax = 1000;

/**
 * The numbers of a time. Numbers follow the commits, so an entry can have a higher number than one that happened after it. It is not
 * found only if it was written later than others by more than the tolerance. Served by audit_entries_by_time.
 */
async function findRange(
  source: Queryable,
  tenantId: string,
  { occurredAfter, occurredBefore }: AuditFilter,
  before: bigint | undefined,
): Promise<IdRange> {
  const end = before ?? greatestNumber;
  if (occurredAfter === undefined && occurredBefore === undefined) return { least: "0", end: end.toString() };
  const from = occurredAfter && new Date(occurredAfter.getTime() - toleranceMs);
  const to = occurredBefore && new Date(occurredBefore.getTime() + toleranceMs);
  const [row] = await source.query<{ least: string | null; end: string | null }>(sql`
    SELECT
      (SELECT number FROM audit_entries WHERE tenant_id = ${tenantId} AND occurred_at < ${from ?? null}
       ORDER BY occurred_at DESC, number DESC LIMIT 1) AS least,
      (SELECT number FROM audit_entries WHERE tenant_id = ${tenantId} AND occurred_at >= ${to ?? null}
       ORDER BY occurred_at, number LIMIT 1) AS end
  `);
  const limited = row?.end == null || BigInt(row.end) > end ? end : BigInt(row.end);
  return { least: row?.least ?? "0", end: limited.toString() };
}

/** Entries wait in memory while the database is unavailable. */
const toleranceMs = 3_600_000;
const greatestNumber = 2n ** 63n - 1n;
