import type { Database } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * A busy engine writes 40 totals a second for each wallet, client and tenant, and what is taken back must be subtracted from every total
 * since it was counted: 600,000 of them, which is 40 minutes, take longer than a statement may. So of old totals only the last one of a
 * second, a minute or an hour is kept. A period that began in between then begins with the total before: it counts up to one sixtieth of
 * itself more, never less.
 */
const grains = [
  { olderThanMs: 60_000, grainMs: 1000 },
  { olderThanMs: 3_600_000, grainMs: 60_000 },
  { olderThanMs: 60 * 3_600_000, grainMs: 3_600_000 },
] as const;

const removedMax = 5000;
/** In one go; the rest waits for the next. */
const roundsMax = 60;

/** What is to be removed: totals from one time to another that another one makes superfluous. */
interface Superfluous {
  from: Date;
  to: Date;
  /** Which later total of the same wallet, client or tenant makes the `old` one superfluous. */
  later: Statement;
}

/**
 * Removes totals that are older than any period, and followed by one that is too: the last of them is where every period begins. Then
 * thins out the others. Totals only become old by time, so each call begins where the last complete one ended.
 */
export function createTotalsThinner(
  database: Database,
  periodMaxMs: number,
): (nowMs: number) => Promise<void> {
  const doneUpToMs = new Map<number, number>();
  return async (nowMs) => {
    const oldest = new Date(nowMs - periodMaxMs);
    await remove(database, { from: new Date(0), to: oldest, later: sql`later.at < ${oldest}` });
    for (const [index, { olderThanMs, grainMs }] of grains.entries()) {
      const toMs = Math.floor((nowMs - olderThanMs) / grainMs) * grainMs;
      const bandMs = grains[index + 1]?.olderThanMs ?? periodMaxMs;
      const from = new Date(doneUpToMs.get(grainMs) ?? nowMs - bandMs);
      const grain = sql`interval '1 second' * ${grainMs / 1000}::integer`;
      const later = sql`later.at < date_bin(${grain}, old.at, 'epoch') + ${grain}`;
      if (await remove(database, { from, to: new Date(toMs), later })) doneUpToMs.set(grainMs, toMs);
    }
  };
}

/** Whether all of it was removed. */
async function remove(database: Database, superfluous: Superfluous): Promise<boolean> {
  for (let round = 0; round < roundsMax; round++)
    if ((await removeSome(database, superfluous)) < removedMax) return true;
  return false;
}

/** Served by usage_totals_by_age and the primary key. Totals that are being written are left for the next time. */
async function removeSome(database: Database, { from, to, later }: Superfluous): Promise<number> {
  const removed = await database.query(sql`
    DELETE FROM usage_totals WHERE ctid = ANY (ARRAY(
      SELECT old.ctid FROM usage_totals old
      WHERE old.at >= ${from} AND old.at < ${to} AND EXISTS (
        SELECT FROM usage_totals later
        WHERE later.tenant_id = old.tenant_id AND later.scope = old.scope AND later.scope_id = old.scope_id
          AND later.asset = old.asset AND later.at > old.at AND ${later})
      ORDER BY old.at LIMIT ${removedMax} FOR UPDATE SKIP LOCKED))
    RETURNING 1
  `);
  return removed.length;
}
