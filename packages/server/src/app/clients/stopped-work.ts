import type { Timers } from "../../runtime/loops/timers.js";
import { createWakingLoop, type Rest, type WakingLoop } from "../../runtime/loops/waking-loop.js";
import { createRecentCache } from "../../runtime/recent-cache.js";

export interface StoppedWorkStore {
  /**
   * Reads at most `limit` open orders of all tenants, and requests that those are cancelled whose client, tenant or wallet is stopped although
   * no sweep was recorded. Returns their markets, and where the next page begins; undefined if there is none.
   */
  cancelStoppedOrders: (
    after: string | undefined,
    limit: number,
  ) => Promise<{ markets: readonly string[]; next: string | undefined }>;
  /** Reads at most `limit` clients whose payments are cancelled because a stop says so, in the order of their keys, and finds those for which no sweep waits and that may have something open. */
  listCancellingStops: (after: StopPosition | undefined, limit: number) => Promise<CancellingStopsPage>;
  /** Reads at most `limit` transactions that such a client requested before it was stopped, and finds those that are open. */
  listStoppedPayments: (
    stop: CancellingStop,
    before: string | undefined,
    limit: number,
  ) => Promise<StoppedPage>;
  /** Requests that rails cancel what they are working on, if they can. */
  requestRailCancels: (
    of: { tenantId: string; requestedBy: string | null },
    ids: readonly string[],
  ) => Promise<void>;
}

export interface StopPosition {
  tenantId: string;
  clientId: string;
}

export interface CancellingStopsPage {
  stops: readonly CancellingStop[];
  /** Where the next page begins; undefined if there is none. */
  next: StopPosition | undefined;
}

export interface CancellingStop extends StopPosition {
  /** What was requested before it is cancelled. */
  recordedAt: Date;
  /** So long ago that no request from before is still being written. */
  isPast: boolean;
}

export interface StoppedPage {
  /** Transactions that no rail has begun to work on. */
  unsettled: readonly string[];
  /** Those that a rail can be asked to cancel. */
  onRail: readonly string[];
  /** Where the next page begins; undefined if there is none. */
  next: string | undefined;
}

export interface StoppedWork {
  loops: readonly WakingLoop[];
  /** Looks at every stop again, because the database may have gone back to an earlier state. */
  reset: () => void;
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

/** Between two pages of one client, so that requests have the database in between. */
const pageLingerMs = 20;
/** A millisecond or two of the database. */
const stopsMax = 1000;
/** To forget one is harmless: its client's transactions are read once more. */
const doneMax = 10_000;

/** How far the look at one stop has come, and whether it has found something. */
interface Look {
  stop: CancellingStop;
  before: string | undefined;
  hasFound: boolean;
}

/**
 * For stops of which only the record could be written, and for sweeps that something else has deleted. Orders have a loop of their own: they do not
 * wait for payments.
 */
export function createStoppedWork({ store, ...deps }: StoppedWorkDeps): StoppedWork {
  let afterOrder: string | undefined;
  let look: Look | undefined;
  let stops: CancellingStop[] = [];
  let afterStop: StopPosition | undefined;
  let isLookOver = false;
  /** The stops whose clients have nothing open any more from before them, with their times. */
  const done = createRecentCache<number>(doneMax);

  async function cancelOrders(): Promise<Rest> {
    const { markets, next } = await store.cancelStoppedOrders(afterOrder, rowsMax);
    afterOrder = next;
    if (markets.length > 0) deps.onOrdersRequested(markets);
    return { pauseMs: lookEveryMs };
  }

  /** One page of one client. A client that fails, because something else holds a lock on its tenant's rows for example, is found again by the next look. */
  async function cancelPayments(): Promise<Rest> {
    look ??= beginNext() ?? (await beginNextPage());
    if (look === undefined) return isLookOver ? endLook() : { lingerMs: pageLingerMs };
    const { stop, before } = look;
    const page = await store.listStoppedPayments(stop, before, rowsMax);
    const hasFound = look.hasFound || page.unsettled.length + page.onRail.length > 0;
    if (page.next === undefined && !hasFound && stop.isPast) done.set(keyOf(stop), stop.recordedAt.getTime());
    look = page.next === undefined ? undefined : { stop, before: page.next, hasFound };
    await cancelPage(stop.tenantId, page).catch((error: unknown) => {
      look = undefined;
      deps.onError(error);
    });
    return { lingerMs: pageLingerMs };
  }

  function beginNext(): Look | undefined {
    const stop = stops.shift();
    return stop && { stop, before: undefined, hasFound: false };
  }

  async function beginNextPage(): Promise<Look | undefined> {
    if (isLookOver) return undefined;
    const page = await store.listCancellingStops(afterStop, stopsMax);
    afterStop = page.next;
    isLookOver = page.next === undefined;
    stops = page.stops.filter((stop) => done.get(keyOf(stop)) !== stop.recordedAt.getTime());
    return beginNext();
  }

  function endLook(): Rest {
    isLookOver = false;
    return { pauseMs: lookEveryMs };
  }

  /** Who has disabled the client is not known, so they name nobody as the one who has cancelled them. */
  async function cancelPage(tenantId: string, { unsettled, onRail }: StoppedPage): Promise<void> {
    // First, because it needs no account: these are about to leave.
    if (onRail.length > 0) {
      await store.requestRailCancels({ tenantId, requestedBy: null }, onRail);
      deps.onRailsRequested();
    }
    for (let from = 0; from < unsettled.length; from += batchMax)
      await deps.cancelTransactions(tenantId, unsettled.slice(from, from + batchMax), null);
  }

  const loops = [cancelOrders, cancelPayments].map((step) =>
    createWakingLoop({ step, onError: deps.onError, pauseAfterErrorMs: lookEveryMs, timers: deps.timers }),
  );
  return { loops, reset: () => done.clear() };
}

function keyOf({ tenantId, clientId }: StopPosition): string {
  return `${tenantId} ${clientId}`;
}
