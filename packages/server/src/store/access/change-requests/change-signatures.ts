import type { HeldKey } from "@bursar/domain";
import type { ChangeDecision, ChangeRequest } from "../../../app/change-requests/change-request.js";
import { publicKeyIdentity } from "../../../app/people/passkeys/cose-key.js";
import type { ApprovalEvidence } from "../../../app/transactions/approvals/approval-evidence.js";
import type { Queryable, Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";

/** The signatures of decisions on change requests. */
export function insertChangeSignature(
  tx: Tx,
  { tenantId, id, version }: { tenantId: string; id: string; version: number },
  evidence: ApprovalEvidence,
): void {
  tx.send(sql`
    INSERT INTO change_signatures (tenant_id, change_request_id, version, key_id, algorithm, public_key, params, signature,
      base, body, base_available_at)
    VALUES (${tenantId}, ${id}, ${version}, ${evidence.keyId}, ${evidence.algorithm}, ${evidence.publicKey},
      ${evidence.params}, ${evidence.signature}, ${evidence.base}, ${evidence.body}, ${evidence.baseAvailableAt})
  `);
}

type EvidenceRow = ChangeDecision & (ApprovalEvidence | { [Name in keyof ApprovalEvidence]: null });

/** A request has at most 50 approvals, and one rejection ends it. */
const decisionsMax = 100;

/** Served by the primary keys. */
export async function listChangeEvidence(
  source: Queryable,
  tenantId: string,
  id: string,
): Promise<(ChangeDecision & { evidence: ApprovalEvidence | null })[]> {
  const rows = await source.query<EvidenceRow>(sql`
    SELECT d.version, d.client_id AS "clientId", d.decision, d.comment, d.decided_at AS "decidedAt",
      s.key_id AS "keyId", s.algorithm, s.public_key AS "publicKey", s.params, s.signature, s.base, s.body,
      s.base_available_at AS "baseAvailableAt"
    FROM change_decisions d LEFT JOIN change_signatures s
      ON s.tenant_id = d.tenant_id AND s.change_request_id = d.change_request_id AND s.version = d.version
    WHERE d.tenant_id = ${tenantId} AND d.change_request_id = ${id}
    ORDER BY d.version LIMIT ${decisionsMax}
  `);
  return rows.map(({ version, clientId, decision, comment, decidedAt, ...evidence }) => ({
    ...{ version, clientId, decision, comment, decidedAt },
    evidence: evidence.keyId === null ? null : evidence,
  }));
}

/** The identities of the public keys of the signatures, by the version of their decision. Served by the primary key. */
export async function readChangeSigners(
  source: Queryable,
  { tenantId, id, decisions }: Pick<ChangeRequest, "tenantId" | "id" | "decisions">,
): Promise<ReadonlyMap<number, readonly HeldKey[]>> {
  if (decisions.length < 2) return new Map();
  const rows = await source.query<{ version: number; publicKey: Uint8Array }>(sql`
    SELECT version, public_key AS "publicKey" FROM change_signatures
    WHERE tenant_id = ${tenantId} AND change_request_id = ${id} AND public_key IS NOT NULL
    ORDER BY version LIMIT ${decisionsMax}
  `);
  return new Map(
    rows.map(({ version, publicKey }) => [version, [{ key: publicKeyIdentity(publicKey), untilMs: null }]]),
  );
}
