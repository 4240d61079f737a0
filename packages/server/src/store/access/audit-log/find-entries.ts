import { isEntryAuthentic } from "../../../app/audit/entry-authenticity.js";
import { findKeyEnds } from "../../../app/audit/key-ends.js";
import { type KeyedQueryable, requireKeys } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { findEntries } from "./audit-rows.js";
import { listKeyEnds } from "./key-ends.js";

/**
 * What the audit log says about something whose row may have been put back to an earlier state, with its MAC of then. The role of the
 * service cannot remove an entry. It can insert one, so an entry that lets something happen must be authentic, and one that prevents it
 * need not be.
 */

/** Entries that are looked at. A writer who inserts more of them only prevents something. */
const looksMax = 20;

/** Served by audit_entries_ends. */
export async function isOpenInLog(
  source: KeyedQueryable,
  tenantId: string,
  shownId: string,
): Promise<boolean> {
  const ended = await source.query(sql`
    SELECT FROM audit_entries
    WHERE tenant_id = ${tenantId} AND object = ${shownId} AND action IN (
      'change_request.cancel', 'change_request.reject', 'change_request.apply', 'change_request.fail', 'change_request.expire')
    LIMIT 1
  `);
  if (ended.length > 0) return false;
  const isCreation = sql`AND object = ${shownId} AND action = 'change_request.create'`;
  const created = await findEntries(source, tenantId, isCreation, looksMax);
  const keys = requireKeys(source);
  const ends = await findKeyEnds(keys, created, () => listKeyEnds(source, tenantId));
  return created.some((entry) => isEntryAuthentic(keys, entry, ends));
}

/** The time since which a tenant is suspended by the log; undefined if it is not. Served by audit_entries_suspensions. */
export async function findSuspension(source: KeyedQueryable, tenantId: string): Promise<Date | undefined> {
  const isSuspension = sql`AND action IN ('tenant.suspend', 'tenant.resume')`;
  const entries = await findEntries(source, tenantId, isSuspension, looksMax);
  if (entries.length === 0) return undefined;
  const keys = requireKeys(source);
  const ends = await findKeyEnds(keys, entries, () => listKeyEnds(source, tenantId));
  const last = entries.find((entry) =>
    isEntryAuthentic(keys, entry, entry.action === "tenant.suspend" ? "anywhere" : ends),
  );
  // So many that the last genuine one is not among them: the tenant stays suspended, which is the safe side.
  if (last === undefined && entries.length === looksMax) return entries.at(-1)?.occurredAt;
  return last?.action === "tenant.suspend" ? last.occurredAt : undefined;
}
