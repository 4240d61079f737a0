import type { Refused } from "../requests/refused.js";
import type { EndpointStore } from "./endpoint.js";

/** What was sent to an endpoint in an hour. */
interface EndpointHour {
  start: Date;
  attempts: number;
  delivered: number;
  exhausted: number;
  /** The sum and the maximum of all attempts. */
  latencyMs: number;
  latencyMsMax: number;
}

/** Nothing is counted beyond this. */
export const countedRowsMax = 10_000;

/** A number that is not counted beyond a bound. */
export interface BoundedCount {
  count: number;
  isBound: boolean;
}

/** What is waiting to be sent. */
interface PendingDeliveries extends BoundedCount {
  /** When the oldest was caused. */
  oldestAt: Date | undefined;
  /** The next attempt that is planned; undefined if all of them are due, or there are none. */
  nextAttemptAt: Date | undefined;
}

export interface EndpointStats {
  from: Date;
  hours: readonly EndpointHour[];
  /** Of the last attempts of the newest deliveries, in no order. */
  latencies: readonly number[];
  pending: PendingDeliveries;
  /** Failed deliveries that were not sent again. */
  resendable: BoundedCount;
}

/** What a replay from a sequence would send. */
interface ReplayCount extends BoundedCount {
  /** The last event that was looked at; undefined if there is none from this sequence on. */
  lastSequence: number | undefined;
}

export interface EndpointStatsStore {
  readStats: (tenantId: string, endpointId: string, from: Date) => Promise<Omit<EndpointStats, "from">>;
  countReplay: (tenantId: string, endpointId: string, fromSequence: number) => Promise<ReplayCount>;
}

export interface EndpointStatsUseCases {
  showEndpointStats: (tenantId: string, id: string, hours: number) => Promise<EndpointStats | Refused>;
  countReplay: (tenantId: string, id: string, fromSequence: number) => Promise<ReplayCount | Refused>;
}

export interface EndpointStatsDeps {
  store: EndpointStatsStore;
  endpoints: Pick<EndpointStore, "readEndpoint">;
  now: () => number;
}

const hourMs = 3_600_000;

export function createEndpointStats({ store, endpoints, now }: EndpointStatsDeps): EndpointStatsUseCases {
  const ofEndpoint = async <Found>(
    tenantId: string,
    id: string,
    read: () => Promise<Found>,
  ): Promise<Found | Refused> => {
    const endpoint = await endpoints.readEndpoint(tenantId, id);
    return endpoint === undefined ? { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" } : await read();
  };
  return {
    showEndpointStats: (tenantId, id, hours) =>
      ofEndpoint(tenantId, id, async () => {
        // The hour that has begun is the last one.
        const from = new Date((Math.floor(now() / hourMs) - hours + 1) * hourMs);
        return { from, ...(await store.readStats(tenantId, id, from)) };
      }),
    countReplay: (tenantId, id, fromSequence) =>
      ofEndpoint(tenantId, id, () => store.countReplay(tenantId, id, fromSequence)),
  };
}

/** The value below which this share of the numbers is; undefined if there are none. */
export function quantileOf(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
