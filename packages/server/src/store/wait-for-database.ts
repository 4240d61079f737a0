import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database } from "./database.js";
import { DatabaseAwayError } from "./database-away-error.js";
import { sql } from "./sql.js";

const delayMinMs = 200;
const delayMaxMs = 5000;

/** Waits until the database answers, for as long as it takes; anything but its absence is thrown. */
export async function waitForDatabase(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  for (let delayMs = delayMinMs; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
    try {
      await database.query(sql`SELECT 1`);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseAwayError)) throw error;
      const { code } = error.cause as { code?: string };
      log.warn({ error_code: code, retry_in_ms: delayMs }, "waiting for the database");
    }
    await sleep(delayMs, undefined, { signal });
  }
}
