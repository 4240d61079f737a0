import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { Timers } from "../../runtime/timers.js";
import type { ApiClient } from "../access/client.js";
import { type Allowance, createAllowance } from "./allowance.js";
import type { ClientQuotas, Quotas } from "./client-quotas.js";
import type { ClientTraffic } from "./client-traffic.js";
import type { QuotaStore, Reservation } from "./quota-store.js";

/**
 * Keeps the quotas of all clients in this process. Tokens come from the shared buckets, for many clients in one statement. Where
 * the database does not answer in time the process carries on by itself, each with the whole quota: everything that a client could
 * ask for needs the same database and says so with 503, which is the truth, where 429 would not be.
 */
export interface QuotaKeeper {
  /** The client's traffic. A look-up, because every request asks. */
  of: (client: ApiClient) => ClientTraffic;
  counts: QuotaCounts;
  close: () => Promise<void>;
}

interface QuotaCounts {
  /** Statements sent for tokens, and those that were not answered in time. */
  reservations: number;
  unanswered: number;
}

export interface QuotaKeeperDeps {
  store: QuotaStore;
  defaults: Quotas;
  /** A clock that nobody can set back. */
  monotonicMs: () => number;
  timers: Timers;
}

/** No request waits longer for a slice. */
const answerTimeoutMs = 250;
/** After a question that was not answered the next one waits, so that a database in trouble is not asked for tokens as well. */
const awayPauseMs = 1000;
const batchMax = 200;
const sweepIntervalMs = 5000;
const idleMs = 10_000;
const clientsMax = 10_000;

interface Asking {
  traffic: Pick<ClientTraffic, "tenantId" | "clientId">;
  quotaClass: QuotaClass;
  allowance: Allowance;
}

export function createQuotaKeeper({ store, defaults, monotonicMs, timers }: QuotaKeeperDeps): QuotaKeeper {
  const clients = new Map<string, ClientTraffic>();
  const counts: QuotaCounts = { reservations: 0, unanswered: 0 };
  let asking: Asking[] = [];
  let isScheduled = false;
  let awayUntilMs = 0;

  function ask(one: Asking): void {
    asking.push(one);
    if (isScheduled) return;
    isScheduled = true;
    // At the end of this turn, so that those who ask together are answered by one statement.
    timers.soon(() => {
      isScheduled = false;
      const all = asking;
      asking = [];
      for (let start = 0; start < all.length; start += batchMax)
        void reserve(all.slice(start, start + batchMax));
    });
  }

  async function reserve(batch: readonly Asking[]): Promise<void> {
    const carryOn = () => {
      for (const { allowance } of batch) allowance.carryOn(monotonicMs());
    };
    if (monotonicMs() < awayUntilMs) return carryOn();
    counts.reservations += 1;
    const requests = batch.map((one) => toReservation(one, one.allowance.wanted()));
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      counts.unanswered += 1;
      awayUntilMs = monotonicMs() + awayPauseMs;
      carryOn();
    };
    const callOff = timers.after(answerTimeoutMs, giveUp);
    try {
      const reserved = await store.reserve(requests);
      callOff();
      // Tokens that come too late have been replaced by the process's own, and lapse.
      if (isLate) return;
      for (const [index, { allowance }] of batch.entries()) {
        const { granted = 0, remaining = 0 } = reserved[index] ?? {};
        allowance.receive(granted, remaining, monotonicMs());
      }
    } catch {
      callOff();
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
          () => ask({ traffic: key, quotaClass, allowance }),
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

  /** Gives back what has not been used since, and forgets whoever has nothing open. */
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
      // What cannot be given back lapses.
      await store.reserve(unused.slice(start, start + batchMax)).catch(() => undefined);
  }

  let callOffSweep = scheduleSweep();
  function scheduleSweep(): () => void {
    return timers.after(sweepIntervalMs, () => {
      callOffSweep = scheduleSweep();
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
      // Whoever is forgotten here loses a slice, not a quota: the shared bucket knows what has been used.
      if (clients.size > clientsMax) clients.delete(clients.keys().next().value as string);
      return made;
    },
    close: async () => {
      callOffSweep();
      const inTime = new Promise<void>((resolve) => timers.after(answerTimeoutMs, resolve));
      await Promise.race([sweep(Number.POSITIVE_INFINITY), inTime]);
    },
  };
}

function toReservation({ traffic, quotaClass, allowance }: Asking, wanted: number): Reservation {
  const { tenantId, clientId } = traffic;
  return { tenantId, clientId, quotaClass, quota: allowance.quota(), wanted };
}
