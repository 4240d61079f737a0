import type { PolicyDocument, WindowKind } from "@bursar/domain";
import type { Queryable } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { bucketSecondsOf } from "../../../src/store/policy/usage-windows.js";

/**
 * Writes a policy past the API, so that it is in force before the tenant's first request, with the windows of its limits. Nothing of the
 * past is counted.
 */
export async function storePolicy(
  database: Queryable,
  { tenantId, clientId, version = 1 }: { tenantId: string; clientId: string; version?: number },
  document: PolicyDocument,
): Promise<void> {
  const kinds = windowsOf(document);
  await database.query(sql`
    WITH windows AS (
      INSERT INTO usage_windows (tenant_id, per, asset, period_seconds, bucket_seconds, in_force)
      SELECT ${tenantId}, *, true FROM unnest(
        ${kinds.map(({ per }) => per)}::text[], ${kinds.map(({ asset }) => asset ?? "")}::text[],
        ${kinds.map(({ periodSeconds }) => periodSeconds)}::integer[],
        ${kinds.map(({ periodSeconds }) => bucketSecondsOf(periodSeconds))}::integer[])
      ON CONFLICT DO NOTHING)
    INSERT INTO policies (tenant_id, version, document, client_id, created_at)
    VALUES (${tenantId}, ${version}, ${JSON.stringify(document)}::jsonb, ${clientId}, now())
  `);
}

function windowsOf({ rules }: PolicyDocument): WindowKind[] {
  return rules.flatMap(({ when }) => {
    const { sum, count } = when ?? {};
    return [sum, count].flatMap((limit) =>
      limit === undefined
        ? []
        : [{ per: limit.per, asset: limit.asset ?? null, periodSeconds: limit.period_seconds }],
    );
  });
}
