import type { DatabaseIdentity } from "./database-identity.js";

export interface ConfirmDatabaseDeps {
  identity: Pick<DatabaseIdentity, "hasAnsweredNow">;
  /** Asks the database something, and resolves with its answer. */
  ask: () => Promise<unknown>;
  monotonicMs: () => number;
}

/**
 * Asks the database before something is shown from memory, once for all requests that wait. Returns whether it is still the known one, or
 * has become another one in which memory was dropped; false if it does not answer.
 */
export type ConfirmDatabase = () => Promise<boolean>;

export function createDatabaseConfirmer({
  identity,
  ask,
  monotonicMs,
}: ConfirmDatabaseDeps): ConfirmDatabase {
  let asking: Promise<boolean> | undefined;
  const askOnce = () => {
    asking ??= ask()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  return async () => {
    const arrivedMs = monotonicMs();
    const wasAsked = asking !== undefined;
    if (!(await askOnce())) return false;
    // What was asked long before this request says nothing about the time since: it can have hung while another server took over.
    return !wasAsked || identity.hasAnsweredNow(arrivedMs) || (await askOnce());
  };
}
