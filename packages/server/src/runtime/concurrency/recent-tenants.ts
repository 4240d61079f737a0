/** Remembers the last requests of different tenants, to tell whether work for one of them delays others. */
export interface RecentTenants {
  note: (tenantId: string) => void;
  /** Whether another tenant was noted in the last moments. */
  hasOthers: (tenantId: string) => boolean;
}

/** About as long as a request takes on a busy machine. */
const recentMs = 500;

export function createRecentTenants(monotonicMs: () => number): RecentTenants {
  /** The last tenant, and when the last one of any other was noted: enough for an answer about every tenant. */
  let [lastTenantId, lastMs, lastOfOthersMs] = ["", Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return {
    note: (tenantId) => {
      if (tenantId !== lastTenantId) [lastTenantId, lastOfOthersMs] = [tenantId, lastMs];
      lastMs = monotonicMs();
    },
    hasOthers: (tenantId) => monotonicMs() - (tenantId === lastTenantId ? lastOfOthersMs : lastMs) < recentMs,
  };
}
