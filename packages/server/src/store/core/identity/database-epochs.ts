import type { Epoch } from "../../../runtime/database/database-identity.js";
import { sql } from "../sql.js";
import { epochOf, type RunText, readEpoch, type ServerRow } from "./read-server.js";

export type EpochReason = "promoted" | "restored" | "rewound";

/** The number of the last doubt about wallets. Served by the primary key. */
export const lastDoubt = sql`coalesce((SELECT number FROM wallet_doubts ORDER BY number DESC LIMIT 1), 0)`;

/** The first epoch belongs to the server on which the tables were created. Served by the primary key. */
export async function nameServer(run: RunText, { number, system, timeline }: ServerRow): Promise<void> {
  await run(
    `UPDATE database_epochs SET system_identifier = $1, timeline = $2
     WHERE number = $3 AND system_identifier IS NULL`,
    [system, timeline, number],
  );
}

/**
 * Begins an epoch after the one that was found, and after every one that was seen before, so that a number has one meaning. Doubts about wallets are
 * added to it: an earlier version, which does not count them, takes no wallet for confirmed that was confirmed after one. Of several
 * processes that find the same, one begins it and the others find it: the lock makes them wait for each other, and for `bursar recover`.
 */
export async function beginEpoch(
  run: RunText,
  row: ServerRow,
  reason: EpochReason,
  seenNumber: number,
): Promise<Epoch | undefined> {
  const found = epochOf(row);
  if (found === undefined) return undefined;
  await run("BEGIN");
  try {
    await run("LOCK TABLE database_epochs IN SHARE ROW EXCLUSIVE MODE");
    const doubts = (await hasDoubts(run)) ? lastDoubt.text : "0";
    // Served by the primary keys.
    await run(
      `INSERT INTO database_epochs (number, system_identifier, timeline, reason)
       SELECT $1::bigint + ${doubts}, $2, $3, $4 WHERE NOT EXISTS (SELECT FROM database_epochs WHERE number > $5::bigint)`,
      [
        String(Math.max(found.number, seenNumber) + 1),
        row.system,
        row.timeline,
        reason,
        String(found.number),
      ],
    );
    await run("COMMIT");
  } catch (error) {
    await run("ROLLBACK").catch(() => undefined);
    throw error;
  }
  return await readEpoch(run);
}

/** Every connection gets here before the migrations: a backup of an earlier version has no table of doubts, and must be opened to get one. */
async function hasDoubts(run: RunText): Promise<boolean> {
  const [row] = await run(`SELECT to_regclass('wallet_doubts') IS NOT NULL AS "isThere"`);
  return (row as { isThere: boolean }).isThere;
}
