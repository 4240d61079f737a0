import type { Timers } from "../loops/timers.js";
import type { DatabaseChange, DatabaseIdentity } from "./database-identity.js";

export interface FollowDatabaseDeps {
  database: { identity: Pick<DatabaseIdentity, "subscribe">; identify: () => Promise<void> };
  onChange: (change: DatabaseChange) => void;
  /** Brings the process and the database together again, and resolves when requests can be served. */
  prepareAgain: () => Promise<void>;
  timers: Pick<Timers, "after">;
}

/** New connections are checked too; this finds an epoch that was begun while all connections stay open. */
const identifyEveryMs = 1000;

/** Checks regularly which database it is, and prepares it again when it has changed. Returns a function that stops it. */
export function followDatabase({
  database,
  onChange,
  prepareAgain,
  timers,
}: FollowDatabaseDeps): () => Promise<void> {
  let isStopped = false;
  let cancel = () => {};
  let identifying: Promise<void> = Promise.resolve();
  let preparing: Promise<void> | undefined;
  let isAsked = false;

  async function identify(): Promise<void> {
    // A database that does not answer is noticed by others. It is asked again.
    await database.identify().catch(() => undefined);
    if (!isStopped) schedule();
  }

  function schedule(): void {
    cancel = timers.after(identifyEveryMs, () => {
      identifying = identify();
    });
  }

  /** Once more if the database changes again meanwhile. */
  async function prepare(): Promise<void> {
    do {
      isAsked = false;
      await prepareAgain();
    } while (isAsked && !isStopped);
  }

  const unsubscribe = database.identity.subscribe((change) => {
    onChange(change);
    isAsked = true;
    preparing ??= prepare().finally(() => {
      preparing = undefined;
    });
  });
  schedule();
  return async () => {
    isStopped = true;
    unsubscribe();
    cancel();
    await identifying;
    await preparing;
  };
}
