import type { Quota } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";
import type { Timers } from "../../runtime/loops/timers.js";
import type { Allowance } from "./allowance.js";
import type { BucketKey } from "./traffic.js";

/** The token buckets that all processes share. */
export interface QuotaStore {
  /** Takes up to the wanted number of tokens for each; a negative number returns tokens. Results are in the order of the requests. */
  reserve: (requests: readonly Reservation[]) => Promise<Reserved[]>;
}

export interface Reservation {
  tenantId: string;
  clientId: string;
  quotaClass: QuotaClass;
  quota: Quota;
  wanted: number;
  /** Used already, and taken even if the bucket does not hold as much. */
  owed: number;
}

interface Reserved {
  granted: number;
  /** The tokens left in the bucket afterwards. */
  remaining: number;
}

/** Reserves tokens for many clients in one statement. */
export interface TokenReserver {
  request: (one: PendingReservation) => void;
  counts: QuotaCounts;
}

export interface QuotaCounts {
  /** Statements that reserve tokens, and those that were not answered in time. */
  reservations: number;
  unanswered: number;
}

export interface PendingReservation {
  key: BucketKey;
  quotaClass: QuotaClass;
  allowance: Allowance;
}

interface TokenReserverDeps {
  store: QuotaStore;
  monotonicMs: () => number;
  timers: Timers;
}

/** The longest time that a request waits for a reservation. */
export const answerTimeoutMs = 250;
/** The pause after an unanswered reservation, so that an overloaded database does not get more of them. */
const unavailablePauseMs = 1000;
export const batchMax = 200;

export function createTokenReserver({ store, monotonicMs, timers }: TokenReserverDeps): TokenReserver {
  const counts: QuotaCounts = { reservations: 0, unanswered: 0 };
  let pending: PendingReservation[] = [];
  let isScheduled = false;
  let unavailableUntilMs = 0;

  function request(one: PendingReservation): void {
    pending.push(one);
    if (isScheduled) return;
    isScheduled = true;
    // At the end of this turn of the event loop, so that one statement serves all requests of the turn.
    timers.soon(() => {
      isScheduled = false;
      const all = pending;
      pending = [];
      for (let start = 0; start < all.length; start += batchMax)
        void reserve(all.slice(start, start + batchMax));
    });
  }

  async function reserve(batch: readonly PendingReservation[]): Promise<void> {
    const continueLocally = () => {
      for (const { allowance } of batch) allowance.continueLocally(monotonicMs());
    };
    if (monotonicMs() < unavailableUntilMs) return continueLocally();
    counts.reservations += 1;
    const requests = batch.map((one) => toReservation(one, one.allowance.ask()));
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      counts.unanswered += 1;
      unavailableUntilMs = monotonicMs() + unavailablePauseMs;
      continueLocally();
    };
    const cancelTimeout = timers.after(answerTimeoutMs, giveUp);
    try {
      const reserved = await store.reserve(requests);
      cancelTimeout();
      // The process has continued with its own copy of the buckets, so tokens that arrive late are dropped.
      if (isLate) return;
      for (const [index, { allowance }] of batch.entries()) {
        const { granted = 0, remaining = 0 } = reserved[index] ?? {};
        allowance.receive(granted, remaining, monotonicMs());
      }
    } catch {
      cancelTimeout();
      if (!isLate) giveUp();
    }
  }

  return { request, counts };
}

export function toReservation(
  { key: { tenantId, clientId }, quotaClass, allowance }: PendingReservation,
  asked: { wanted: number; owed: number },
): Reservation {
  return { tenantId, clientId, quotaClass, quota: allowance.quota(), ...asked };
}
