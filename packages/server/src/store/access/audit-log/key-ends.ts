import type { StoredKeyEnd } from "../../../app/audit/key-ends.js";
import type { Queryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import type { Stored } from "./audit-rows.js";

/** Of one chain: a few for each replaced key. If a writer inserts more, the entries of replaced keys may not count, which is the safe side. */
const endsMax = 1000;

/** Served by the primary key. */
export async function listKeyEnds(source: Queryable, tenantId: string): Promise<StoredKeyEnd[]> {
  const rows = await source.query<Stored<StoredKeyEnd>>(sql`
    SELECT tenant_id AS "tenantId", ended_key_id AS "endedKeyId", number, key_id AS "keyId", mac
    FROM audit_key_ends WHERE tenant_id = ${tenantId} ORDER BY ended_key_id, key_id, number LIMIT ${endsMax}
  `);
  return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
}
