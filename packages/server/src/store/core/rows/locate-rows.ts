import { type Statement, sql } from "../sql.js";

/**
 * Finds rows of a table by their keys, one look into the primary key for each, and adds their places (`ctid`) to what is given about them.
 * A statement that changes rows joins them by their places.
 *
 * In a plain join of a table with a list, PostgreSQL chooses which of the two it reads first, and after an ANALYZE at the wrong moment it
 * reads the table, as a whole: deleting 500 rows took 9.5 s that way. A subquery with a LIMIT cannot be turned around.
 */
export function locateRows(
  table: Statement,
  given: Statement,
  key: Statement = hasKey(sql`r`, sql`given`),
): Statement {
  return sql`(
    SELECT given.*, found.place FROM ${given} CROSS JOIN LATERAL (
      SELECT r.ctid AS place FROM ${table} r WHERE ${key} LIMIT 1) AS found)`;
}

/** Keys as the rows that `locateRows` is given. */
export function listKeys(keys: readonly { tenantId: string; id: string }[]): Statement {
  return sql`unnest(${keys.map(({ tenantId }) => tenantId)}::uuid[], ${keys.map(({ id }) => id)}::uuid[]) AS given (tenant_id, id)`;
}

/** Whether `r` is the row with the key of `given`. */
export function hasKey(r: Statement, given: Statement, id: Statement = sql`${given}.id`): Statement {
  return sql`${r}.tenant_id = ${given}.tenant_id AND ${r}.id = ${id}`;
}

/**
 * Joins the row of a table with the key of `given`, for tables that have other indexes with the tenant and the id in them. In a plan that was
 * made while the table was empty they all cost the same, and the one that was created last wins: the claim of the engine read all
 * transactions of a tenant that way. Only the primary key has this order, so all others would have to sort.
 */
export function joinByKey(table: Statement, r: Statement, given: Statement): Statement {
  return sql`JOIN LATERAL (
      SELECT * FROM ${table} r WHERE (r.tenant_id, r.id) >= (${given}.tenant_id, ${given}.id) ORDER BY r.tenant_id, r.id LIMIT 1
    ) AS ${r} ON ${hasKey(r, given)}`;
}
