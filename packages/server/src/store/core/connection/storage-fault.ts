import pg from "pg";
import type { Session } from "../database.js";
import { DatabaseUnavailableError } from "../database-unavailable-error.js";

/**
 * Remembers that the server could not write, because a disk is full or fails. Reads still work then, so a check that reads would report a
 * service as ready that refuses every payment.
 */
export interface StorageFault {
  note: (error: unknown) => void;
  /**
   * Rejects while the fault persists. Once some seconds have passed without one, it is checked with a small write, because a service that
   * is not ready gets no requests that could show it.
   */
  assertNone: (inSession: (work: (session: Session) => Promise<void>) => Promise<void>) => Promise<void>;
}

/** disk_full and io_error. Out of memory and too many connections end by themselves, and fail for some statements only. */
const storageStates = new Set(["53100", "58030"]);
const privilegeMissing = "42501";
const quietMs = 2000;

export function createStorageFault(monotonicMs: () => number): StorageFault {
  let fault: { error: pg.DatabaseError; atMs: number } | undefined;
  return {
    note: (error) => {
      if (error instanceof pg.DatabaseError && storageStates.has(error.code ?? ""))
        fault = { error, atMs: monotonicMs() };
    },
    assertNone: async (inSession) => {
      const known = fault;
      if (known === undefined) return;
      if (monotonicMs() - known.atMs < quietMs)
        throw new DatabaseUnavailableError("the database cannot write", { cause: known.error });
      await inSession(writeSomething).catch((error: unknown) => {
        // Without the privilege there is no check, and the next write that fails notes the fault again.
        if ((error as { code?: unknown }).code !== privilegeMissing) throw error;
      });
      if (fault === known) fault = undefined;
    },
  };
}

/** One megabyte in the tablespace of the database, and a commit. */
async function writeSomething(session: Session): Promise<void> {
  await session.script(`
    CREATE TEMPORARY TABLE bursar_storage_check ON COMMIT DROP AS
    SELECT repeat('x', 1900) AS filler FROM generate_series(1, 512)`);
}
