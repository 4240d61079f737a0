import type { UsageByWindow, UsageWindow } from "@bursar/domain";

/** A rolling window whose usage a policy rule tests. */
export interface TenantWindow {
  tenantId: string;
  window: UsageWindow;
}

/** An allowed transaction or order, which counts towards limits from a time on. */
export interface Counted {
  tenantId: string;
  clientId: string;
  /** The source wallet. */
  walletId: string;
  asset: string;
  amount: bigint;
  at: Date;
}

/** Says how many events of a log were summed for how many limits that are not in force. */
export type OnHistoryRead = (events: number, limits: number) => void;

export interface UsageStore {
  /** The current usage of every window, by its key. Undefined if the history of a window that no policy in force tests is too long. */
  readUsage: (
    windows: readonly TenantWindow[],
    now: Date,
    onHistoryRead?: OnHistoryRead,
  ) => Promise<UsageByWindow | undefined>;
}
