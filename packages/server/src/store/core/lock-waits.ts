import type { Database, Tx } from "./database.js";
import { type Statement, sql } from "./sql.js";

/** From here on no statement of this SQL transaction waits longer for a lock; one that would fails with a lock timeout. */
export function boundLockWaits(tx: Pick<Tx, "send">, lockTimeoutMs: number): void {
  tx.send(sql`SELECT set_config('lock_timeout', ${`${lockTimeoutMs}`}, true)`);
}

/** Runs one statement, which waits no longer than this for a lock. */
export function queryWithin<Row>(
  database: Pick<Database, "transaction">,
  lockTimeoutMs: number,
  statement: Statement,
): Promise<Row[]> {
  return database.transaction((tx) => {
    boundLockWaits(tx, lockTimeoutMs);
    return tx.query<Row>(statement);
  });
}
