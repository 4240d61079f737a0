import { type Statement, sql } from "../../core/sql.js";

/**
 * Whether there is such a row. A subquery with a value is a look into an index for each payment; of an EXISTS beside an OR the planner may
 * make one read of the whole table.
 */
export const hasRow = (from: Statement) => sql`(SELECT true FROM ${from} LIMIT 1) IS TRUE`;

/**
 * Whether the payment `p` is to an address that was on the allow-list when it was judged, and no longer is. What was allowed is a payment to a
 * listed address. Most have been judged when they were accepted, and have no row of their own for it. Served by destinations_removed,
 * destinations_listed and primary keys.
 */
export const isDelisted = hasRow(sql`transactions t
  CROSS JOIN LATERAL (
    SELECT d.address FROM destinations d
    WHERE d.tenant_id = t.tenant_id AND d.network = p.network AND d.address = t.destination_address
      AND d.removed_at >= coalesce((
        SELECT j.judged_at FROM judgements j WHERE j.tenant_id = t.tenant_id AND j.transaction_id = t.id), t.created_at)
      AND d.effective_at <= t.created_at
    LIMIT 1) AS d
  WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id AND (
    SELECT true FROM destinations l
    WHERE l.tenant_id = t.tenant_id AND l.network = p.network AND l.address = t.destination_address
      AND l.removed_at IS NULL AND l.effective_at <= t.created_at) IS NULL`);
