import type { BacklogStore } from "../app/webhooks/delivery-backlog.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/waking-loop.js";

/**
 * Writes the deliveries that were too many to be written with their events: a bounded number at a time, and the tenants that have some take
 * turns. It rests for as long as it has worked, so that what it does leaves at least half of the database's time to others.
 */
export type DeliveryWriter = Pick<WakingLoop, "start" | "wake" | "stop">;

export interface DeliveryWriterDeps {
  store: BacklogStore;
  /** Called after each commit, with the tenant that has more deliveries now. */
  onWritten: (tenantId: string) => void;
  onError: (error: unknown) => void;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** For wake-ups that were lost. */
const lookEveryMs = 2000;
const pauseAfterErrorMs = 500;
const restMinMs = 5;
const restMaxMs = 200;

export function createDeliveryWriter(deps: DeliveryWriterDeps): DeliveryWriter {
  const { store, monotonicMs } = deps;
  let afterTenantId: string | undefined;

  async function step(): Promise<Rest> {
    const beganMs = monotonicMs();
    const tenantId = await store.findBacklog(afterTenantId);
    const isEndOfRound = tenantId === undefined && afterTenantId !== undefined;
    afterTenantId = tenantId;
    if (tenantId === undefined) return isEndOfRound ? undefined : { pauseMs: lookEveryMs };
    if ((await store.writeSome(tenantId)) > 0) deps.onWritten(tenantId);
    return { lingerMs: Math.min(Math.max(monotonicMs() - beganMs, restMinMs), restMaxMs) };
  }

  const { onError, timers } = deps;
  return createWakingLoop({ step, onError, pauseAfterErrorMs, timers });
}
