import type { ListDeadlines } from "../../app/transactions/list-by-deadline.js";
import type { Database } from "../core/database.js";
import { idRange, selectBoundedPage, toListed } from "../core/rows/bounded-page.js";
import { type Statement, sql } from "../core/sql.js";
import { lookAt } from "./transaction-page.js";

const leastId = "00000000-0000-0000-0000-000000000000";
/** Later than any deadline. */
const lastMs = "8640000000000000";

/** One whose approvals are being counted is due at once; one that was set aside has no deadline. */
const due = sql`coalesce(o.due_at, 'infinity')`;
const positionOf = sql`CASE ${due} WHEN '-infinity' THEN '0' WHEN 'infinity' THEN ${lastMs}::text
  ELSE (extract(epoch FROM ${due}) * 1000)::bigint::text END || '.' || o.id`;

/** What waits for approval, by its deadline. Served by open_transactions_by_deadline, for a bounded number of rows. */
export function createDeadlinePages(database: Database): ListDeadlines {
  return async (tenantId, { states: _, ...filter }, limit, after) => {
    const { least, end } = idRange(filter, undefined);
    const lead = (max: Statement) => sql`
      SELECT ${positionOf} AS id, o.id AS "transactionId" FROM open_transactions o
      WHERE o.tenant_id = ${tenantId} AND o.state = 'awaiting_approval' AND o.version > 0
        AND (${due}, o.id) > (${startOf(after)})
      ORDER BY ${due}, o.id LIMIT ${max}`;
    const inTime = sql`s."transactionId" >= ${least} AND s."transactionId" < ${end}`;
    const rows = await database.query<{ id: string; transactionId: string; isEnd: boolean }>(
      selectBoundedPage({
        lead,
        rest: sql`${lookAt(tenantId, sql`s."transactionId"`, filter) ?? sql`WHERE true`} AND ${inTime}`,
        limit,
        also: sql`, s."transactionId"`,
      }),
    );
    return toListed(rows, (row) => row);
  };
}

function startOf(after: string | undefined): Statement {
  const [ms = "0", id = leastId] = after?.split(".") ?? [];
  if (ms === "0") return sql`'-infinity'::timestamptz, ${id}::uuid`;
  if (ms === lastMs) return sql`'infinity'::timestamptz, ${id}::uuid`;
  return sql`${new Date(Number(ms))}::timestamptz, ${id}::uuid`;
}
