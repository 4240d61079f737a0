import type { Lease, SendingStore } from "../app/webhooks/sending.js";
import { createLane, type Lane } from "./lane.js";

/** Which endpoints this process sends to. */
export interface LeaseKeeper {
  lanes: () => Iterable<Lane>;
  laneCount: () => number;
  laneOf: (key: { tenantId: string; endpointId: string }) => Lane | undefined;
  /**
   * Takes endpoints that nobody sends to and where something is due. Tenants that were looked at a moment ago are postponed to a later
   * call, whatever that asks for.
   */
  take: (tenantIds: Iterable<string> | "any") => Promise<void>;
  hasPostponed: () => boolean;
  /** Keeps what is held, with its endpoints as they are now; lets go of what was lost, and of what has been idle. */
  keep: (isUrgent: boolean) => Promise<void>;
  releaseAll: () => Promise<void>;
}

export interface LeaseKeeperDeps {
  store: Pick<SendingStore, "leaseEndpoints" | "renewLeases" | "releaseLeases">;
  /** Names this process among those that send. */
  holder: string;
  concurrency: number;
  now: () => number;
  /** A clock that nobody can set back. */
  monotonicMs: () => number;
}

/** How long endpoints wait when the process that sent to them dies. */
const leaseMs = 10_000;
const renewEveryMs = 3000;
/** An endpoint that was busy a moment ago is likely to be so again; taking and giving back its lease each time is two writes. */
const lingerMs = 5000;
/**
 * A busy tenant's endpoints are nearly always held already, and each look is a statement: one in four of those that a delivery takes
 * where little is sent at a time.
 */
export const lookAgainAfterMs = 50;
/** Those that do not answer hold a lane too, and little in it. */
const lanesMax = 5000;
const takeMax = 500;

export function createLeaseKeeper({
  store,
  holder,
  concurrency,
  now,
  monotonicMs,
}: LeaseKeeperDeps): LeaseKeeper {
  const lanes = new Map<string, Lane>();
  let renewedMs = Number.NEGATIVE_INFINITY;
  /** When each tenant was looked at, since all of them were. */
  const lookedMs = new Map<string, number>();
  const postponed = new Set<string>();

  async function renew(): Promise<void> {
    const open = [...lanes.values()].filter(({ isClosed }) => !isClosed);
    const heldUntilMs = monotonicMs() + leaseMs;
    renewedMs = monotonicMs();
    if (open.length === 0) return;
    const renewed = await store.renewLeases(
      open.map(({ lease }) => lease),
      leaseMs,
    );
    const held = new Map(renewed.map((lease) => [keyOf(lease), lease]));
    for (const lane of open) {
      const lease = held.get(keyOf(lane.lease));
      if (lease === undefined) {
        // Another process has it, or there is nobody to send to any more.
        lane.close();
      } else {
        lane.lease = lease;
        lane.heldUntilMs = heldUntilMs;
      }
    }
  }

  async function release(given: readonly Lane[]): Promise<void> {
    if (given.length === 0) return;
    for (const { lease } of given) lanes.delete(keyOf(lease));
    await store.releaseLeases(given.map(({ lease }) => lease));
  }

  /** The tenants that may be looked at now; the others are postponed. */
  function choose(wanted: Iterable<string> | "any"): string[] | "any" {
    if (wanted === "any") {
      lookedMs.clear();
      postponed.clear();
      return "any";
    }
    const asked = new Set([...postponed, ...wanted]);
    postponed.clear();
    const now = monotonicMs();
    return [...asked].filter((tenantId) => {
      const isNow = now - (lookedMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) >= lookAgainAfterMs;
      if (isNow) lookedMs.set(tenantId, now);
      else postponed.add(tenantId);
      return isNow;
    });
  }

  const isLeft = (lane: Lane) =>
    lane.isIdle() && (lane.isClosed || (!lane.mayHaveMore && now() - lane.lastActiveMs >= lingerMs));

  return {
    lanes: () => lanes.values(),
    laneCount: () => lanes.size,
    laneOf: (key) => lanes.get(keyOf(key)),
    hasPostponed: () => postponed.size > 0,
    take: async (wanted) => {
      const limit = Math.min(takeMax, lanesMax - lanes.size);
      const tenantIds = choose(wanted);
      if (limit <= 0 || tenantIds.length === 0) return;
      const heldUntilMs = monotonicMs() + leaseMs;
      const nowMs = now();
      const taken = await store.leaseEndpoints({ holder, tenantIds, now: new Date(nowMs), leaseMs, limit });
      for (const lease of taken) {
        const lane = createLane(lease, concurrency, heldUntilMs);
        lane.lastActiveMs = now();
        lanes.set(keyOf(lease), lane);
      }
    },
    keep: async (isUrgent) => {
      if (isUrgent || monotonicMs() - renewedMs >= renewEveryMs) await renew();
      await release([...lanes.values()].filter(isLeft));
    },
    releaseAll: () => release([...lanes.values()]),
  };
}

function keyOf({ tenantId, endpointId }: Pick<Lease, "tenantId" | "endpointId">): string {
  return `${tenantId} ${endpointId}`;
}
