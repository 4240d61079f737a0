import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { OperatorError } from "../../../operator-error.js";
import type { Database } from "../database.js";
import { DatabaseUnavailableError } from "../database-unavailable-error.js";
import { sql } from "../sql.js";
import { assertOwnSessions } from "./session-settings.js";

const delayMinMs = 200;
const delayMaxMs = 5000;

/**
 * Waits until the database answers and does what needs it, for as long as it takes. If the database becomes unavailable in the meantime, the
 * work starts again, so each of its steps can be repeated. Any other error is thrown.
 */
export async function withAvailableDatabase(
  database: Database,
  log: Logger,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (let delayMs = delayMinMs; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
    try {
      await assertOwnSessions(database);
      await assertWritable(database);
      await work();
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      // Waiting does not change the configuration.
      if (error.cause instanceof OperatorError) throw error.cause;
      const { code, message } = (error.cause ?? error) as { code?: string; message: string };
      log.warn({ error_code: code, reason: message, retry_in_ms: delayMs }, "waiting for the database");
    }
    await sleep(delayMs, undefined, { signal });
  }
}

/** Whether the database can take work; one that only reads, as a standby or one with a full disk does, cannot. */
export async function assertWritable(database: Database): Promise<void> {
  await database.assertStores();
  const [row] = await database.session((session) =>
    session.query<{ setting: string }>(sql`SELECT current_setting('transaction_read_only') AS setting`),
  );
  if (row?.setting === "off") return;
  const cause = Object.assign(new Error("the database is read-only"), { code: "25006" });
  throw new DatabaseUnavailableError("the database takes no writes", { cause });
}

/** Whether requests can be served: as above, and the tables are there and may be read. Served by the primary key. */
export async function assertServes(database: Database): Promise<void> {
  await assertWritable(database);
  await database.query(sql`SELECT number FROM database_epochs ORDER BY number DESC LIMIT 1`);
}
