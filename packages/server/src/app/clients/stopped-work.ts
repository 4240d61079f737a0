import type { Timers } from "../../runtime/loops/timers.js";
import { createWakingLoop, type WakingLoop } from "../../runtime/loops/waking-loop.js";

export interface StoppedWorkStore {
  /**
   * Reads at most `limit` open orders of all tenants, and requests that those are cancelled whose client, tenant or wallet is stopped although
   * no sweep was recorded. Returns their markets, and where the next page begins; undefined if there is none.
   */
  cancelStoppedOrders: (
    after: string | undefined,
    limit: number,
  ) => Promise<{ markets: readonly string[]; next: string | undefined }>;
  /** Reads at most `limit` open payments of all tenants, and finds those that a stop cancels for which no sweep was recorded. */
  listStoppedPayments: (
    after: string | undefined,
    limit: number,
  ) => Promise<{ found: readonly OpenOfTenant[]; next: string | undefined }>;
  /** Requests that rails cancel what they are working on, if they can. */
  requestRailCancels: (
    of: { tenantId: string; requestedBy: string | null },
    ids: readonly string[],
  ) => Promise<void>;
}

export interface OpenOfTenant {
  tenantId: string;
  /** Transactions that no rail has begun to work on. */
  unsettled: readonly string[];
  /** Those that a rail can be asked to cancel. */
  onRail: readonly string[];
}

export interface StoppedWorkDeps {
  store: StoppedWorkStore;
  /**
   * Cancels those of these transactions that nobody else is working on; returns how many it could not cancel now. Throws a lock timeout if
   * something else holds a lock on rows of the tenant.
   */
  cancelTransactions: (tenantId: string, ids: readonly string[], actorId: string | null) => Promise<number>;
  onOrdersRequested: (markets: readonly string[]) => void;
  onRailsRequested: () => void;
  onError: (error: unknown) => void;
  timers: Pick<Timers, "after">;
}

const lookEveryMs = 2000;
const batchMax = 100;
/** Some milliseconds of the database. A large book takes minutes then: these orders do not trade meanwhile. */
const rowsMax = 1000;

/**
 * For stops of which only the record could be written, and sweeps that something else has deleted. Orders have a loop of their own: they do not
 * wait for payments.
 */
export function createStoppedWork({ store, ...deps }: StoppedWorkDeps): readonly WakingLoop[] {
  let afterOrder: string | undefined;
  let afterPayment: string | undefined;

  async function cancelOrders(): Promise<void> {
    const { markets, next } = await store.cancelStoppedOrders(afterOrder, rowsMax);
    afterOrder = next;
    if (markets.length > 0) deps.onOrdersRequested(markets);
  }

  /** A tenant that fails, because something else holds a lock on its rows for example, is found again by the next pass. */
  async function cancelPayments(): Promise<void> {
    const { found, next } = await store.listStoppedPayments(afterPayment, rowsMax);
    for (const open of found) await cancelOfTenant(open).catch(deps.onError);
    afterPayment = next;
  }

  /** Who has disabled their clients is not known, so they name nobody as the one who has cancelled them. */
  async function cancelOfTenant({ tenantId, unsettled, onRail }: OpenOfTenant): Promise<void> {
    // First, because it needs no account: these are about to leave.
    if (onRail.length > 0) {
      await store.requestRailCancels({ tenantId, requestedBy: null }, onRail);
      deps.onRailsRequested();
    }
    for (let from = 0; from < unsettled.length; from += batchMax)
      await deps.cancelTransactions(tenantId, unsettled.slice(from, from + batchMax), null);
  }

  return [cancelOrders, cancelPayments].map((cancel) =>
    createWakingLoop({
      step: async () => {
        await cancel();
        return { pauseMs: lookEveryMs };
      },
      onError: deps.onError,
      pauseAfterErrorMs: lookEveryMs,
      timers: deps.timers,
    }),
  );
}
