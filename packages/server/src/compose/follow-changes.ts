import type { Logger } from "pino";
import { followDatabase } from "../runtime/database/follow-database.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Readiness } from "../runtime/readiness.js";
import { withAvailableDatabase } from "../store/core/connection/wait-for-database.js";
import type { Database } from "../store/core/database.js";
import { DatabaseUnavailableError, isSchemaMissing } from "../store/core/database-unavailable-error.js";
import { assertRestored, countConstraints, migrate } from "../store/core/schema/migrate.js";
import type { Migration } from "../store/core/schema/migrations.js";
import type { Parts } from "./compose.js";

export interface FollowChangesOptions {
  database: Database;
  parts: Pick<Parts, "prepareDatabase">;
  readiness: Readiness;
  migrations: readonly Migration[];
  /** How many constraints the schema had when the service was started. */
  constraintsCount: number;
  log: Logger;
  /** Called when the database cannot be used any more, for example because a newer version has migrated it. */
  onFailure: (error: Error) => void;
}

/**
 * After a promotion, a restore or a restart the service is not ready until it has prepared the database again: one that was restored can
 * have an older schema, and can lack a market that was configured since.
 */
export function followChanges({
  database,
  parts,
  readiness,
  migrations,
  constraintsCount,
  log,
  onFailure,
}: FollowChangesOptions): () => Promise<void> {
  const stopping = new AbortController();
  const stop = followDatabase({
    database,
    onChange: ({ isNewEpoch }) => {
      log.warn(
        { epoch: database.identity.epoch() },
        isNewEpoch
          ? "The database was promoted or restored: committed data may be lost. Everything in memory is dropped, and streams are closed."
          : "The database has restarted. Everything in memory is dropped, and streams are closed.",
      );
      if (readiness.state() === "ready") readiness.set("starting");
    },
    prepareAgain: async () => {
      try {
        await withAvailableDatabase(database, log, stopping.signal, () =>
          withoutHalfASchema(async () => {
            await assertRestored(database, { migrationsCount: migrations.length, constraintsCount });
            // What was restored is another epoch, which has to be known before anything is served from it.
            await database.identify();
            database.identity.confirmComplete();
            await migrateAndLog(database, migrations, log);
            await parts.prepareDatabase();
          }),
        );
        if (readiness.state() === "starting") readiness.set("ready");
      } catch (error) {
        if (!stopping.signal.aborted) onFailure(error instanceof Error ? error : new Error(String(error)));
      }
    },
    timers: nodeTimers,
  });
  return async () => {
    stopping.abort();
    await stop();
  };
}

/** What lacks a table or a privilege under a running service is about to be restored, so it is waited for. */
async function withoutHalfASchema(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (!isSchemaMissing(cause)) throw cause;
    throw new DatabaseUnavailableError("the schema of the database is incomplete", { cause });
  }
}

/** Returns how many constraints the schema then has. */
export async function migrateAndLog(
  database: Database,
  migrations: readonly Migration[],
  log: Logger,
): Promise<number> {
  const applied = await migrate(database, migrations);
  if (applied.length > 0)
    log.info({ migrations: applied.length, last: applied.at(-1) }, "migrated the database");
  return await countConstraints(database);
}
