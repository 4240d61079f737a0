import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Database, isDatabaseAway } from "./database.js";

const delayMinMs = 200;
const delayMaxMs = 5000;

/** Waits until the database answers, for as long as it takes; anything but its absence is thrown. */
export async function waitForDatabase(database: Database, log: Logger, signal: AbortSignal): Promise<void> {
  for (let delayMs = delayMinMs; ; delayMs = Math.min(delayMs * 2, delayMaxMs)) {
    try {
      await database`SELECT 1`;
      return;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      log.warn(
        { error_code: (error as { code: string }).code, retry_in_ms: delayMs },
        "waiting for the database",
      );
    }
    await sleep(delayMs, undefined, { signal });
  }
}
