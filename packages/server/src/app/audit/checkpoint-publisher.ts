import type { Checkpoint } from "./checkpoint.js";

/** Publishes checkpoints of the audit logs that have grown: regularly, and when the service stops. */
export interface CheckpointPublisher {
  start: () => void;
  /** Publishes once more, and stops. */
  close: () => Promise<void>;
}

export interface CheckpointPublisherDeps {
  /**
   * Signs one audit log that has grown and has no checkpoint since this time. Undefined if there is none. A log whose head was changed
   * by something else is not signed: its last entries may have been removed.
   */
  publishNext: (notSince: Date) => Promise<Checkpoint | { untrustedTenantId: string } | undefined>;
  onCheckpoint: (checkpoint: Checkpoint) => void;
  onUntrusted: (tenantId: string) => void;
  onError: (error: unknown) => void;
  /** 0 turns checkpoints off. */
  intervalMs: number;
  now: () => number;
  monotonicMs: () => number;
}

/** Logs beyond this wait for the next round, which starts with those whose last checkpoint is the oldest. */
const logsPerRoundMax = 5000;
/** The service may not stop late because of many tenants. Logs that are left are signed after the next start. */
const lastRoundMs = 3000;

export function createCheckpointPublisher(deps: CheckpointPublisherDeps): CheckpointPublisher {
  const { intervalMs, now, monotonicMs } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;
  let round: Promise<void> | undefined;

  async function publishAll(notSince: Date, durationMs: number): Promise<void> {
    const deadlineMs = monotonicMs() + durationMs;
    for (let count = 0; count < logsPerRoundMax && monotonicMs() < deadlineMs; count++) {
      if (isClosing && durationMs !== lastRoundMs) return;
      const published = await deps.publishNext(notSince);
      if (published === undefined) return;
      if ("untrustedTenantId" in published) deps.onUntrusted(published.untrustedTenantId);
      else deps.onCheckpoint(published);
    }
  }

  function publishRegularly(): void {
    if (round !== undefined) return;
    // Processes share the work: what another one has signed within this interval is left out.
    const notSince = new Date(now() - intervalMs / 2);
    round = publishAll(notSince, intervalMs)
      .catch(deps.onError)
      .finally(() => {
        round = undefined;
      });
  }

  return {
    start: () => {
      // Called again if the preparation of the service is retried.
      if (intervalMs > 0) timer ??= setInterval(publishRegularly, intervalMs).unref();
    },
    close: async () => {
      // A command line, or a service that never became ready, has not started it.
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      isClosing = true;
      await round;
      await publishAll(new Date(now()), lastRoundMs).catch(deps.onError);
    },
  };
}
