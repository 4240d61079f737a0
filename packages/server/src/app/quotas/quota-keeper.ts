import type { Quota } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { Timers } from "../../runtime/timers.js";
import type { ApiClient } from "../clients/client.js";
import { type Allowance, createAllowance } from "./allowance.js";
import type { ClientQuotas, Quotas } from "./client-quotas.js";

/**
 * Keeps the quotas of all clients in this process. Tokens are reserved from the shared buckets, for many clients in one statement. If
 * the database does not answer in time, the process continues with its own copy of each bucket: every request needs the same database
 * and is answered with 503, whereas a 429 would be wrong.
 */
export interface QuotaKeeper {
  /** The client's traffic. A map look-up, because every request needs it. */
  of: (client: ApiClient) => ClientTraffic;
  counts: QuotaCounts;
  close: () => Promise<void>;
}

interface QuotaCounts {
  /** Statements that reserve tokens, and those that were not answered in time. */
  reservations: number;
  unanswered: number;
}

/** One client's traffic in this process: its remaining quotas, and what it has open. */
export interface ClientTraffic {
  tenantId: string;
  clientId: string;
  /** The quotas that the allowances were made from. */
  overrides: ClientQuotas;
  allowances: Readonly<Record<QuotaClass, Allowance>>;
  requestsInFlight: number;
  connections: number;
}

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
}

interface Reserved {
  granted: number;
  /** The tokens left in the bucket afterwards. */
  remaining: number;
}

export interface QuotaKeeperDeps {
  store: QuotaStore;
  defaults: Quotas;
  monotonicMs: () => number;
  timers: Timers;
}

/** The longest time that a request waits for a reservation. */
const answerTimeoutMs = 250;
/** The pause after an unanswered reservation, so that an overloaded database does not get more of them. */
const unavailablePauseMs = 1000;
const batchMax = 200;
const sweepIntervalMs = 5000;
const idleMs = 10_000;
const clientsMax = 10_000;

interface PendingReservation {
  traffic: Pick<ClientTraffic, "tenantId" | "clientId">;
  quotaClass: QuotaClass;
  allowance: Allowance;
}

export function createQuotaKeeper({ store, defaults, monotonicMs, timers }: QuotaKeeperDeps): QuotaKeeper {
  const clients = new Map<string, ClientTraffic>();
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
    const requests = batch.map((one) => toReservation(one, one.allowance.wanted()));
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

  function create({ id: clientId, tenantId, quotas }: ApiClient): ClientTraffic {
    const key = { tenantId, clientId };
    const allowances = Object.fromEntries(
      quotaClasses.map((quotaClass) => {
        const allowance: Allowance = createAllowance(
          quotaClass,
          quotas[quotaClass] ?? defaults[quotaClass],
          () => request({ traffic: key, quotaClass, allowance }),
        );
        return [quotaClass, allowance];
      }),
    ) as Record<QuotaClass, Allowance>;
    return {
      ...key,
      overrides: quotas,
      allowances,
      requestsInFlight: 0,
      connections: 0,
    };
  }

  function retune(traffic: ClientTraffic, overrides: ClientQuotas): void {
    traffic.overrides = overrides;
    for (const name of quotaClasses) traffic.allowances[name].retune(overrides[name] ?? defaults[name]);
  }

  /** Returns unused tokens to the shared buckets, and forgets clients that have nothing open. */
  async function sweep(idleSinceMs: number): Promise<void> {
    const unused: Reservation[] = [];
    for (const [clientId, traffic] of clients) {
      let isIdle = traffic.requestsInFlight === 0 && traffic.connections === 0;
      for (const quotaClass of quotaClasses) {
        const allowance = traffic.allowances[quotaClass];
        const tokens = allowance.surrender(idleSinceMs);
        if (tokens > 0) unused.push(toReservation({ traffic, quotaClass, allowance }, -tokens));
        isIdle &&= allowance.isIdle(idleSinceMs);
      }
      if (isIdle) clients.delete(clientId);
    }
    for (let start = 0; start < unused.length; start += batchMax)
      // Tokens that cannot be returned are lost.
      await store.reserve(unused.slice(start, start + batchMax)).catch(() => undefined);
  }

  let cancelSweep = scheduleSweep();
  function scheduleSweep(): () => void {
    return timers.after(sweepIntervalMs, () => {
      cancelSweep = scheduleSweep();
      void sweep(monotonicMs() - idleMs);
    });
  }

  return {
    counts,
    of: (client) => {
      const known = clients.get(client.id);
      if (known !== undefined) {
        if (known.overrides !== client.quotas) retune(known, client.quotas);
        return known;
      }
      const made = create(client);
      clients.set(client.id, made);
      // A client that is forgotten here loses its slice, not its quota: the shared bucket knows what has been used.
      if (clients.size > clientsMax) clients.delete(clients.keys().next().value as string);
      return made;
    },
    close: async () => {
      cancelSweep();
      const inTime = new Promise<void>((resolve) => timers.after(answerTimeoutMs, resolve));
      await Promise.race([sweep(Number.POSITIVE_INFINITY), inTime]);
    },
  };
}

function toReservation({ traffic, quotaClass, allowance }: PendingReservation, wanted: number): Reservation {
  const { tenantId, clientId } = traffic;
  return { tenantId, clientId, quotaClass, quota: allowance.quota(), wanted };
}
