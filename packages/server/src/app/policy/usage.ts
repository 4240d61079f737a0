import type { UsageByWindow, UsageWindow } from "@bursar/domain";

/** A window of a tenant's past that a judgement looks at. */
export interface TenantWindow {
  tenantId: string;
  window: UsageWindow;
}

export interface UsageStore {
  /** What the windows hold at this moment, each of them, by their keys. */
  readUsage: (windows: readonly TenantWindow[], now: Date) => Promise<UsageByWindow>;
}
