/**
 * A fenced lease: the right to act alone for something (a market, a webhook endpoint, a network) until it expires. Times are those of the
 * store, so that holders need not agree on a clock. A lease that has expired still holds until another process acquires it.
 */
export interface Lease {
  /** Names the process among those that could hold it. */
  holder: string;
  /** Grows by one with each acquisition. Every write under a lease checks it, so that a holder that lost its lease writes nothing. */
  fence: string;
}

/** Another process holds the lease now, and nothing was written. */
export class LeaseLostError extends Error {}

/** Where leases are kept. `Wanted` says which free ones to acquire. */
export interface LeaseStore<Held extends Lease, Wanted> {
  /** Acquires leases that have expired or were released, and returns them. */
  acquire: (wanted: Wanted, holder: string, leaseMs: number) => Promise<Held[]>;
  /** Extends leases, and returns those that were not lost. */
  renew: (leases: readonly Held[], leaseMs: number) => Promise<Held[]>;
  /** Gives leases back; those that were lost are left alone. Nobody acquires them before this time has passed. */
  release: (leases: readonly Held[], restMs?: number) => Promise<void>;
}

/** What one process holds, as far as it can know by its own clock. */
export interface LeaseKeeper<Held extends Lease, Wanted> {
  acquire: (wanted: Wanted) => Promise<Held[]>;
  isRenewalDue: () => boolean;
  /** Renews leases, and returns those that were not lost, by their names. Waits for a renewal that is under way. */
  renew: (leases: readonly Held[]) => Promise<ReadonlyMap<string, Held>>;
  /**
   * Whether a lease certainly holds. False for a process that stood still for longer than the lease lasts: it must renew the lease
   * before it acts on anything that the fence does not protect, such as a request to a receiver.
   */
  isHeld: (lease: Held) => boolean;
  /** Gives leases back, to be acquired again after this time at the earliest. Waits for a renewal that is under way. */
  release: (leases: readonly Held[], restMs?: number) => Promise<void>;
}

export interface LeaseKeeperDeps<Held extends Lease, Wanted> {
  store: LeaseStore<Held, Wanted>;
  holder: string;
  leaseMs: number;
  /** Well before a lease expires, so that a slow step does not lose it. */
  renewEveryMs: number;
  /** What a lease is on. */
  nameOf: (lease: Held) => string;
  monotonicMs: () => number;
}

export function createLeaseKeeper<Held extends Lease, Wanted>({
  store,
  holder,
  leaseMs,
  renewEveryMs,
  nameOf,
  monotonicMs,
}: LeaseKeeperDeps<Held, Wanted>): LeaseKeeper<Held, Wanted> {
  /** Until when each lease certainly holds: counted from before the store was asked. */
  const heldUntilMs = new Map<string, number>();
  let renewedMs = Number.NEGATIVE_INFINITY;
  let renewing: Promise<unknown> | undefined;

  async function renew(leases: readonly Held[]): Promise<ReadonlyMap<string, Held>> {
    renewedMs = monotonicMs();
    const untilMs = renewedMs + leaseMs;
    const renewed = leases.length === 0 ? [] : await store.renew(leases, leaseMs);
    const held = new Map(renewed.map((lease) => [nameOf(lease), lease]));
    for (const name of leases.map(nameOf))
      if (held.has(name)) heldUntilMs.set(name, untilMs);
      else heldUntilMs.delete(name);
    return held;
  }

  return {
    acquire: async (wanted) => {
      const untilMs = monotonicMs() + leaseMs;
      const acquired = await store.acquire(wanted, holder, leaseMs);
      for (const lease of acquired) heldUntilMs.set(nameOf(lease), untilMs);
      return acquired;
    },
    isRenewalDue: () => monotonicMs() - renewedMs >= renewEveryMs,
    renew: async (leases) => {
      while (renewing !== undefined) await renewing;
      const result = renew(leases);
      const end = () => {
        renewing = undefined;
      };
      renewing = result.then(end, end);
      return await result;
    },
    isHeld: (lease) => monotonicMs() < (heldUntilMs.get(nameOf(lease)) ?? Number.NEGATIVE_INFINITY),
    release: async (leases, restMs = 0) => {
      if (leases.length === 0) return;
      while (renewing !== undefined) await renewing;
      for (const lease of leases) heldUntilMs.delete(nameOf(lease));
      await store.release(leases, restMs);
    },
  };
}
