import type { BacklogStore, WrittenDeliveries } from "../app/webhooks/delivery-backlog.js";
import { createBatchSize } from "../runtime/concurrency/isolate-failing-rows.js";
import type { Timers } from "../runtime/loops/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../runtime/loops/waking-loop.js";

/**
 * Writes the deliveries that were too many to be written with their events: a bounded number at a time, of several tenants
 * if there is room, and the tenants take turns. It rests for as long as it has worked, or longer while the service is busy with other
 * tenants, so that at least half of the database's time is left to others.
 */
export type DeliveryWriter = Pick<WakingLoop, "start" | "wake" | "stop">;

export interface DeliveryWriterDeps {
  store: BacklogStore;
  /** Called after each commit, with the tenants that have more deliveries now. */
  onWritten: (tenantIds: readonly string[]) => void;
  onError: (error: unknown) => void;
  /** How long deliveries of this tenant should rest, as a multiple of the work; 0 if no other tenant needs the time. */
  restPerWork: (tenantId: string) => number;
  monotonicMs: () => number;
  timers: Pick<Timers, "after">;
}

/** How many deliveries a step writes. */
const deliveriesMax = 1000;
/** For wake-ups that were lost. */
const lookEveryMs = 2000;
const pauseAfterErrorMs = 500;
const restMinMs = 5;
const restMaxMs = 500;

export function createDeliveryWriter(deps: DeliveryWriterDeps): DeliveryWriter {
  const { store, monotonicMs } = deps;
  const size = createBatchSize(deliveriesMax);
  let afterTenantId: string | undefined;

  async function step(): Promise<Rest> {
    const beganMs = monotonicMs();
    const tenantId = await store.findBacklog(afterTenantId);
    const isEndOfRound = tenantId === undefined && afterTenantId !== undefined;
    if (tenantId === undefined) {
      afterTenantId = undefined;
      return isEndOfRound ? undefined : { pauseMs: lookEveryMs };
    }
    const { tenantIds, lastTenantId } = await writeOrShrink(tenantId);
    afterTenantId = lastTenantId ?? tenantId;
    if (tenantIds.length > 0) deps.onWritten(tenantIds);
    // Also without other requests: the database serves more than this process.
    const restMs = (monotonicMs() - beganMs) * Math.max(1, deps.restPerWork(tenantId));
    return { lingerMs: Math.min(Math.max(restMs, restMinMs), restMaxMs) };
  }

  /** After an error it writes half as many, and if a single event fails, the next step begins with another tenant. */
  async function writeOrShrink(tenantId: string): Promise<WrittenDeliveries> {
    try {
      const written = await store.writeSome(tenantId, size.current());
      size.grow();
      return written;
    } catch (error) {
      if (size.current() === 1) afterTenantId = tenantId;
      size.shrink();
      throw error;
    }
  }

  const { onError, timers } = deps;
  return createWakingLoop({ step, onError, pauseAfterErrorMs, timers });
}
