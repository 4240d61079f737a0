import type { CommittedFact } from "../../../runtime/database/commit-witnesses.js";
import type { RunText } from "./read-server.js";

/**
 * An event is lost if the log ends before it, if it is another one, or if it is missing between others; without any before it, it may have
 * been removed because of its age. An entry of the audit log can be removed after an export, but not the head of its chain. Rows of
 * transactions and orders are never removed. Everything is served by primary keys, and only the case of the fact's own kind is evaluated.
 */
const lostFact = `
  SELECT kind FROM jsonb_to_recordset($1::jsonb) AS fact (kind text, tenant_id uuid, at text, mark text)
  WHERE CASE kind
    WHEN 'event' THEN
      coalesce((SELECT sequence FROM event_sequences s WHERE s.tenant_id = fact.tenant_id), 0) < at::bigint
      OR coalesce((
        SELECT concat_ws(' ', e.subject_id, e.version, floor(extract(epoch FROM e.occurred_at) * 1000)::bigint) <> mark
        FROM events e WHERE e.tenant_id = fact.tenant_id AND e.sequence = at::bigint
      ), EXISTS (SELECT FROM events e WHERE e.tenant_id = fact.tenant_id AND e.sequence < at::bigint))
    WHEN 'audit entry' THEN
      coalesce((SELECT number FROM audit_heads h WHERE h.tenant_id = fact.tenant_id), 0) < at::bigint
      OR coalesce((
        SELECT encode(a.hash, 'hex') <> mark FROM audit_entries a
        WHERE a.tenant_id = fact.tenant_id AND a.number = at::bigint
      ), false)
    WHEN 'transaction' THEN
      NOT EXISTS (SELECT FROM transactions t WHERE t.tenant_id = fact.tenant_id AND t.id = at::uuid)
    WHEN 'order' THEN
      NOT EXISTS (SELECT FROM orders o WHERE o.tenant_id = fact.tenant_id AND o.id = at::uuid)
  END
  LIMIT 1`;

/** undefined_table, undefined_column: the database is from before a migration. */
const olderSchemaStates = new Set(["42P01", "42703"]);

/** Whether the database lacks something that was committed. */
export async function hasLostCommit(run: RunText, facts: readonly CommittedFact[]): Promise<boolean> {
  if (facts.length === 0) return false;
  try {
    const given = facts.map(({ tenantId, at, ...fact }) => ({
      ...fact,
      tenant_id: tenantId,
      at: String(at),
    }));
    return (await run(lostFact, [JSON.stringify(given)])).length > 0;
  } catch (error) {
    if (olderSchemaStates.has((error as { code?: string }).code ?? "")) return true;
    throw error;
  }
}
