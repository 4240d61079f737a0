import type { TenantTurn } from "./tenant-rotation.js";

/**
 * Tenants in whose rows something else holds a lock: a session of the operator, or one with the role of the service. A batch that waited for
 * such a lock would make all tenants wait, for as long as it is held. So a tenant that a batch has waited for is served alone for a while,
 * with a short lock timeout, and after pauses that double as long as the lock is held.
 */
export interface StalledTenants {
  /** All that are served alone now. */
  list: () => string[];
  /** A lock on a row of this tenant was waited for in vain. */
  add: (tenantId: string) => void;
  /** Batches have waited for locks so often that these were not reached. Each is served alone once, at once. */
  suspect: (tenantIds: readonly string[]) => void;
  /** It was served without that. If a lock has ended, it may have been on rows of others too: these are due at once. */
  served: (tenantId: string) => void;
  /** Splits turns: those of other tenants are returned, and those of these are kept for them. */
  keepTurns: (turns: readonly TenantTurn[]) => TenantTurn[];
  /** One whose pause has ended and that has a turn, or any such one with `also`; the next call goes on with others. */
  takeDue: (also?: "without turn") => { tenantId: string; turn: TenantTurn | undefined } | undefined;
  /** When the next one that has a turn is due; infinity if there is none. */
  dueInMs: () => number;
}

interface Stall {
  lastMs: number;
  pauseMs: number;
  dueMs: number;
  turn: TenantTurn | undefined;
  /** No lock was found yet. */
  isSuspected: boolean;
}

/** Another process holds a lock for less; an operator's session may hold one for minutes. */
const firstPauseMs = 100;
const pauseMaxMs = 30_000;
/** To be served alone costs the others next to nothing, and to wait for its rows once more a second. */
const aloneForMs = 60_000;

export function createStalledTenants(monotonicMs: () => number): StalledTenants {
  const stalls = new Map<string, Stall>();

  function prune(): void {
    for (const [tenantId, { lastMs, dueMs }] of stalls)
      if (Math.max(lastMs + aloneForMs, dueMs) <= monotonicMs()) stalls.delete(tenantId);
  }

  return {
    list: () => {
      prune();
      return [...stalls.keys()];
    },
    add: (tenantId) => {
      const known = stalls.get(tenantId);
      const lastMs = monotonicMs();
      const pauseMs =
        known === undefined || known.pauseMs === 0 ? firstPauseMs : Math.min(known.pauseMs * 2, pauseMaxMs);
      stalls.set(tenantId, {
        ...{ lastMs, pauseMs, dueMs: lastMs + pauseMs },
        ...{ turn: known?.turn, isSuspected: false },
      });
    },
    suspect: (tenantIds) => {
      const nowMs = monotonicMs();
      for (const tenantId of tenantIds)
        if (!stalls.has(tenantId))
          stalls.set(tenantId, {
            ...{ lastMs: nowMs, pauseMs: 0, dueMs: nowMs },
            ...{ turn: undefined, isSuspected: true },
          });
    },
    served: (tenantId) => {
      const known = stalls.get(tenantId);
      if (known === undefined) return;
      if (known.isSuspected && known.turn === undefined) stalls.delete(tenantId);
      if (known.pauseMs > 0)
        for (const stall of stalls.values()) stall.dueMs = Math.min(stall.dueMs, monotonicMs());
      known.pauseMs = 0;
    },
    keepTurns: (turns) =>
      turns.filter((turn) => {
        const known = stalls.get(turn.tenantId);
        if (known === undefined) return true;
        const fromMs = Math.min(turn.fromMs, known.turn?.fromMs ?? turn.fromMs);
        known.turn = { ...turn, fromMs };
        return false;
      }),
    takeDue: (also) => {
      for (const [tenantId, stall] of stalls) {
        if (stall.dueMs > monotonicMs() || (stall.turn === undefined && also === undefined)) continue;
        // To the end of the map, for the next call.
        stalls.delete(tenantId);
        stalls.set(tenantId, { ...stall, turn: undefined });
        return { tenantId, turn: stall.turn };
      }
      return undefined;
    },
    dueInMs: () => {
      const due = [...stalls.values()].filter(({ turn }) => turn !== undefined).map(({ dueMs }) => dueMs);
      return Math.max(Math.min(...due) - monotonicMs(), 0);
    },
  };
}
