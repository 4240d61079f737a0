import type { ChangeDecision, ChangeRequest } from "../../../app/change-requests/change-request.js";
import type { Queryable } from "../../core/database.js";
import { type Statement, sql } from "../../core/sql.js";
import type { RowMac } from "../row-integrity.js";

export interface ChangeRow extends Omit<ChangeRequest, "decisions">, RowMac {
  decisions: (Omit<ChangeDecision, "decidedAt"> & { decidedAt: string })[];
}

/** The decisions are served by their primary key. */
export const selectRequests: Statement = sql`
  SELECT r.tenant_id AS "tenantId", r.id, r.kind, r.target, r.change, r.comment, r.requirement, r.state, r.version,
    r.requested_by AS "requestedBy", r.failure_code AS "failureCode", r.created_at AS "createdAt",
    r.expires_at AS "expiresAt", r.effective_at AS "effectiveAt", r.updated_at AS "updatedAt", r.key_id AS "keyId", r.mac,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('version', d.version, 'clientId', d.client_id, 'decision', d.decision,
        'comment', d.comment, 'decidedAt', d.decided_at) ORDER BY d.version), '[]')
      FROM change_decisions d WHERE d.tenant_id = r.tenant_id AND d.change_request_id = r.id) AS decisions
  FROM change_requests r
`;

export function readRequest({ keyId: _, mac: __, ...row }: ChangeRow): ChangeRequest {
  return {
    ...row,
    decisions: row.decisions.map((one) => ({ ...one, decidedAt: new Date(one.decidedAt) })),
  };
}

/** The version of the last event; 0 if there is none. Served by events_by_subject. */
export async function findLastVersion(source: Queryable, { tenantId, id }: ChangeRequest): Promise<number> {
  const [row] = await source.query<{ version: number }>(sql`
    SELECT coalesce(max(version), 0) AS version FROM events WHERE tenant_id = ${tenantId} AND subject_id = ${id}
  `);
  return row?.version ?? 0;
}
