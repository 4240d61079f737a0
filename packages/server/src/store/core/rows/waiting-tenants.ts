import { type Statement, sql } from "../sql.js";

/** Which rows wait, in a table whose rows are `o`, and what an index has after the tenant. */
export interface WaitingRows {
  table: Statement;
  where: Statement;
  key: Statement;
  /** What the query is called that this is the body of; `waiting` if left out. */
  name?: Statement;
}

/**
 * The tenants that have rows waiting, each with the key of its first one: the body of a recursive query with the
 * columns `tenant_id`, `first` and `place`. It goes from tenant to tenant, one look into the index for each, so a tenant with a million rows costs as much as one with a single row.
 * PostgreSQL does not do this by itself for a DISTINCT.
 */
export function waitingTenants(
  { table, where, key, name = sql`waiting` }: WaitingRows,
  { limit, after = sql`'00000000-0000-0000-0000-000000000000'::uuid`, onlyIf = sql`true` }: TenantRange,
): Statement {
  const next = (tenant: Statement) => sql`
    SELECT o.tenant_id, ${key} AS first FROM ${table} o WHERE ${where} AND o.tenant_id > ${tenant}
    ORDER BY o.tenant_id, ${key} LIMIT 1`;
  return sql`
    (SELECT begun.tenant_id, begun.first, 1 AS place FROM (${next(after)}) AS begun WHERE ${onlyIf})
    UNION ALL
    SELECT next.tenant_id, next.first, last.place + 1
    FROM ${name} AS last CROSS JOIN LATERAL (${next(sql`last.tenant_id`)}) AS next WHERE last.place < ${limit}
  `;
}

interface TenantRange {
  limit: number;
  /** Begins after this tenant. */
  after?: Statement | undefined;
  /** Otherwise there is none to look for. */
  onlyIf?: Statement | undefined;
}
