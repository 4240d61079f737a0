import { type Lease, type LeaseKeeper, LeaseLostError } from "./lease.js";

/** The lease of a loop that needs just one to act: on its market, or on its network. It outlives errors of the loop. */
export interface SoleLease<Held extends Lease> {
  /**
   * Acquires the lease unless it is held, and loads what the loop works on. Undefined if another process holds the lease, if there is
   * nothing to work on, or if it was reset in the meantime, because what was loaded then is of no use.
   */
  begin: <T>(load: (lease: Held) => Promise<T | undefined>) => Promise<T | undefined>;
  /** Rejects with `LeaseLostError` if another process has acquired it. */
  renew: (lease: Held) => Promise<void>;
  renewIfDue: (lease: Held) => Promise<void>;
  /** Forgets a lease that another process has acquired. */
  forget: () => void;
  /** Forgets the lease because the database may be another one. If it has the lease, it is released before the next is acquired. */
  reset: () => void;
  release: () => Promise<void>;
}

export interface SoleLeaseDeps<Held extends Lease, Wanted> {
  leases: Pick<LeaseKeeper<Held, Wanted>, "acquire" | "renew" | "isRenewalDue" | "release">;
  wanted: Wanted;
  /** What the lease is on, for the error: `the market ETH-USD`. */
  what: string;
}

export function createSoleLease<Held extends Lease, Wanted>({
  leases,
  wanted,
  what,
}: SoleLeaseDeps<Held, Wanted>): SoleLease<Held> {
  let lease: Held | undefined;
  /** What was held before a reset. */
  let former: Held | undefined;
  let resets = 0;

  async function renew(held: Held): Promise<void> {
    if ((await leases.renew([held])).size === 0)
      throw new LeaseLostError(`another process holds the lease of ${what}`);
  }

  return {
    begin: async (load) => {
      const resetsBefore = resets;
      // No other process must wait until it expires.
      if (former !== undefined) await leases.release([former]);
      former = undefined;
      lease ??= (await leases.acquire(wanted))[0];
      const begun = lease === undefined ? undefined : await load(lease);
      return resets === resetsBefore ? begun : undefined;
    },
    renew,
    renewIfDue: async (held) => {
      if (leases.isRenewalDue()) await renew(held);
    },
    forget: () => {
      lease = undefined;
    },
    reset: () => {
      resets += 1;
      former = lease ?? former;
      lease = undefined;
    },
    release: async () => {
      if (lease !== undefined) await leases.release([lease]);
    },
  };
}
