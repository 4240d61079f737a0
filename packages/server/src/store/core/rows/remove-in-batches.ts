import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../database.js";
import { type Statement, sql } from "../sql.js";

/** Some milliseconds for a statement, so that others do not wait for it. */
const batchMax = 1000;
/** In one call; the rest waits for the next. Far more than any table grows between two calls. */
const batchesMax = 1000;

/** For a table that can have many such rows: others get their turn between two statements. */
interface Pace {
  isStopping: () => boolean;
  pauseMs: number;
}

/**
 * Removes rows, `r`, that match a condition with an order which an index serves: a bounded number in each statement, and all of them in as
 * many statements as that takes. Rows that are in use are left for the next call.
 */
export async function removeInBatches(
  source: Queryable,
  table: Statement,
  which: Statement,
  pace?: Pace,
): Promise<number> {
  let removed = 0;
  for (let batch = 0; batch < batchesMax && pace?.isStopping() !== true; batch++) {
    const rows = await source.query(sql`
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT r.ctid FROM ${table} r WHERE ${which} LIMIT ${batchMax} FOR UPDATE SKIP LOCKED))
      RETURNING 1
    `);
    removed += rows.length;
    if (rows.length < batchMax) break;
    if (pace !== undefined) await sleep(pace.pauseMs);
  }
  return removed;
}
