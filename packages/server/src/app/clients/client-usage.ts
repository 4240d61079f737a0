import { type Quota, refillBucket, type TokenBucket } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import type { TimeRange } from "../overview/overview.js";
import type { CountedClient, QuotaKeeper } from "../quotas/quota-keeper.js";
import type { RequestCounts } from "../quotas/traffic.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ClientService } from "./client-service.js";

interface UsageWanted extends TimeRange {
  tenantId: string;
  clientId: string;
  period: "hour" | "day";
}

export interface UsagePoint extends RequestCounts {
  start: Date;
}

interface QuotaLeft extends Quota {
  quotaClass: QuotaClass;
  /** The tokens in the bucket that all processes share. */
  remaining: number;
}

export interface UsageStore {
  /** Adds the counts to an hour. */
  add: (counted: readonly CountedClient[], hour: Date) => Promise<void>;
  /** Oldest first. */
  list: (wanted: UsageWanted) => Promise<UsagePoint[]>;
  /** The buckets that were used, by class. */
  readBuckets: (tenantId: string, clientId: string) => Promise<ReadonlyMap<string, TokenBucket>>;
}

export interface ClientUsage {
  showClientUsage: (wanted: UsageWanted) => Promise<{ points: UsagePoint[]; quotas: QuotaLeft[] } | Refused>;
}

export interface ClientUsageDeps {
  store: UsageStore;
  quotas: Pick<QuotaKeeper, "quotasOf">;
  readClient: ClientService["readClient"];
  now: () => number;
}

export function createClientUsage({ store, quotas, readClient, now }: ClientUsageDeps): ClientUsage {
  return {
    showClientUsage: async (wanted) => {
      const { tenantId, clientId } = wanted;
      const client = await readClient(tenantId, clientId);
      if (isRefused(client)) return client;
      const [points, buckets] = await Promise.all([
        store.list(wanted),
        store.readBuckets(tenantId, clientId),
      ]);
      const limits = quotas.quotasOf(client);
      return {
        points,
        quotas: quotaClasses.map((quotaClass) => {
          const quota = limits[quotaClass];
          const bucket = buckets.get(quotaClass);
          // One that was never used is full, and one can be in debt.
          const tokens = bucket === undefined ? quota.burst : refillBucket(quota, bucket, now()).tokens;
          return { ...quota, quotaClass, remaining: Math.max(0, Math.floor(tokens)) };
        }),
      };
    },
  };
}

export interface UsageWriterDeps {
  store: Pick<UsageStore, "add">;
  take: QuotaKeeper["takeRequestCounts"];
  /** Whether a write that failed may have been committed. */
  isOutcomeUnknown: (error: unknown) => boolean;
  now: () => number;
}

const hourMs = 3_600_000;
/** The rest of what could not be written is kept, up to this many clients. */
const keptMax = 10_000;
const batchMax = 500;

/**
 * Writes what was counted in memory. A process that is killed loses what it has counted since the last time. So does one that does not
 * learn whether a write was committed: nothing is counted twice.
 */
export function createUsageWriter({
  store,
  take,
  isOutcomeUnknown,
  now,
}: UsageWriterDeps): () => Promise<void> {
  let kept: CountedClient[] = [];
  const write = async () => {
    const counted = [...sumUp([...kept, ...take()]).values()];
    const hour = new Date(Math.floor(now() / hourMs) * hourMs);
    kept = counted.slice(0, keptMax);
    for (let start = 0; start < counted.length; start += batchMax) {
      const rest = counted.slice(start + batchMax, keptMax);
      try {
        await store.add(counted.slice(start, start + batchMax), hour);
      } catch (error) {
        if (isOutcomeUnknown(error)) kept = rest;
        throw error;
      }
      kept = rest;
    }
  };
  // One after the other: while one writes, its counts are still kept, and another would add them again.
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.catch(() => undefined).then(write);
    return last;
  };
}

/** One entry for each client: no statement can add to a row twice. */
function sumUp(counted: readonly CountedClient[]): Map<string, CountedClient> {
  const sums = new Map<string, CountedClient>();
  for (const { tenantId, clientId, counts } of counted) {
    const sum = sums.get(clientId)?.counts;
    sums.set(clientId, { tenantId, clientId, counts: sum === undefined ? counts : add(sum, counts) });
  }
  return sums;
}

function add(a: RequestCounts, b: RequestCounts): RequestCounts {
  return {
    requests: a.requests + b.requests,
    refused: a.refused + b.refused,
    rateLimited: a.rateLimited + b.rateLimited,
    failed: a.failed + b.failed,
    cost: a.cost + b.cost,
  };
}
