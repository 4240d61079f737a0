import type { UsageByWindow, UsageWindow } from "@bursar/domain";

/** A window of a tenant's past that a judgement looks at. */
export interface TenantWindow {
  tenantId: string;
  window: UsageWindow;
}

/** Something that counts towards limits from a time on: a transaction that was let pass, or an order that was. */
export interface Counted {
  tenantId: string;
  clientId: string;
  /** The wallet that pays. */
  walletId: string;
  asset: string;
  amount: bigint;
  at: Date;
}

export interface UsageStore {
  /** What the windows hold at this moment, each of them, by their keys. */
  readUsage: (windows: readonly TenantWindow[], now: Date) => Promise<UsageByWindow>;
}
