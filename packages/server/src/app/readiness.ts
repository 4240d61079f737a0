/** Whether the service can take work. The edge asks; whoever starts and stops the service tells. */
export interface Readiness {
  state: () => ReadinessState;
  set: (state: ReadinessState) => void;
  /** Resolves when the database answers; rejects when it does not. */
  checkDatabase: () => Promise<void>;
}

type ReadinessState = "starting" | "ready" | "stopping";

export interface DatabaseProbe {
  ping: () => Promise<void>;
}

export function createReadiness(probe: DatabaseProbe): Readiness {
  let state: ReadinessState = "starting";
  let pending: Promise<void> | undefined;
  return {
    state: () => state,
    set: (next) => {
      state = next;
    },
    // Probes that arrive together share one query: a flood of them costs the database nothing.
    checkDatabase: () => {
      pending ??= probe.ping().finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
}
