/** A tenant whose turn it is: its transactions that were accepted from this time on. */
export interface TenantTurn {
  tenantId: string;
  fromMs: number;
}

/**
 * The tenants that may have something to be settled, in the order of their turns. Each batch serves as many of them as it can, all with the
 * same share, so a tenant waits for one batch, however much another has accepted.
 *
 * A turn says from when on to look. What was settled a moment ago leaves dead entries at the start of a tenant's part of the index until
 * they are cleaned up, which an old snapshot prevents, and a claim would read past all of them. So a tenant that was woken is looked at for
 * what is recent, one with a backlog from the end of its last turn, and one that a look has found from the first row that the look saw.
 */
export interface TenantRotation {
  add: (tenantIds: Iterable<string>, fromMs: number) => void;
  /** Takes the next turns, each tenant at most once. */
  take: (max: number) => TenantTurn[];
  /** Gives back turns that were not used. */
  returnTurns: (turns: readonly TenantTurn[]) => void;
}

export function createTenantRotation(): TenantRotation {
  const waiting = new Map<string, number>();

  /** A tenant that waits already keeps its place, and the earlier of the two times. */
  function add(tenantId: string, fromMs: number): void {
    waiting.set(tenantId, Math.min(fromMs, waiting.get(tenantId) ?? fromMs));
  }

  return {
    add: (tenantIds, fromMs) => {
      for (const tenantId of tenantIds) add(tenantId, fromMs);
    },
    take: (max) => {
      const turns: TenantTurn[] = [];
      for (const [tenantId, fromMs] of waiting) {
        if (turns.length >= max) break;
        turns.push({ tenantId, fromMs });
      }
      for (const { tenantId } of turns) waiting.delete(tenantId);
      return turns;
    },
    returnTurns: (turns) => {
      for (const { tenantId, fromMs } of turns) add(tenantId, fromMs);
    },
  };
}
