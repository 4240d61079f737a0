import type { RowMac } from "../access/row-integrity.js";
import { type KeyedQueryable, requireKeys } from "../core/database.js";
import { sql } from "../core/sql.js";
import {
  isDecisionAuthentic,
  isSignedByKey,
  publicKeyOfSignature,
  type SealedApproval,
} from "./approval-integrity.js";

type DecisionRow = SealedApproval & RowMac;
type Place = Pick<DecisionRow, "tenantId" | "transactionId" | "version">;

const batchMax = 500;
const leastId = "00000000-0000-0000-0000-000000000000";
const first: Place = { tenantId: leastId, transactionId: leastId, version: 0 };

/**
 * Decisions on transactions that something other than the service has inserted or changed, at most so many. An approval of this kind never
 * counts and is not shown. A rejection stops its transaction, because stopping is always safe, so only this says who has not decided that.
 */
export async function findForgedApprovals(
  source: KeyedQueryable,
  limit: number,
): Promise<Record<string, unknown>[]> {
  const forged: Record<string, unknown>[] = [];
  for (let after: Place | undefined = first; after !== undefined && forged.length < limit; ) {
    const rows: DecisionRow[] = await listDecisions(source, after);
    // Also of keys that were replaced, because the transactions of most have ended.
    for (const row of rows)
      if (forged.length < limit && !isDecisionAuthentic(requireKeys(source), row, row, false))
        forged.push(describe(row));
    after = rows.length < batchMax ? undefined : rows.at(-1);
  }
  return forged;
}

function describe({ tenantId, transactionId, version, clientId, decision }: DecisionRow) {
  return { tenant_id: tenantId, transaction_id: transactionId, version, client_id: clientId, decision };
}

/** The next decisions of all tenants. Served by the primary keys. */
async function listDecisions(source: KeyedQueryable, after: Place): Promise<DecisionRow[]> {
  return await source.query<DecisionRow>(sql`
    SELECT a.tenant_id AS "tenantId", a.transaction_id AS "transactionId", a.version, a.client_id AS "clientId", a.decision,
      encode(a.digest, 'hex') AS digest, a.comment, a.decided_at AS "decidedAt", a.key_id AS "keyId", a.mac, ${isSignedByKey} AS "isSigned",
      ${publicKeyOfSignature} AS "publicKey"
    FROM approvals a
    WHERE (a.tenant_id, a.transaction_id, a.version) > (${after.tenantId}::uuid, ${after.transactionId}::uuid, ${after.version}::integer)
    ORDER BY a.tenant_id, a.transaction_id, a.version LIMIT ${batchMax}
  `);
}
