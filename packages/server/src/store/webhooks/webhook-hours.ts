import type { AttemptResult, EndpointLease } from "../../app/webhooks/sending.js";
import { type Statement, sql } from "../core/sql.js";

const hourMs = 3_600_000;

interface HourCount {
  /** The place of the lease in the list of leases. */
  lease: number;
  endpointId: string;
  startMs: number;
  attempts: number;
  delivered: number;
  exhausted: number;
  latencyMs: number;
  latencyMsMax: number;
}

/**
 * Adds the outcomes of attempts to the hours of their endpoints. They are summed here and not by the database, which so has one row for each
 * endpoint to write and none for each attempt. `own.tenants` has the tenants of the leases that still hold. Served by the primary key.
 */
export function countHours(
  results: readonly AttemptResult[],
  places: ReadonlyMap<EndpointLease, number>,
): Statement {
  const counts = sumUp(results, places);
  return sql`
    INSERT INTO webhook_hours AS w
      (tenant_id, endpoint_id, start, attempts, delivered, exhausted, latency_ms, latency_ms_max)
    SELECT own.tenants[c.lease], c.endpoint_id, to_timestamp(c.start), c.attempts, c.delivered, c.exhausted, c.latency, c.latency_max
    FROM own CROSS JOIN unnest(
      ${counts.map(({ lease }) => lease)}::integer[], ${counts.map(({ endpointId }) => endpointId)}::uuid[],
      ${counts.map(({ startMs }) => startMs / 1000)}::double precision[],
      ${counts.map(({ attempts }) => attempts)}::bigint[], ${counts.map(({ delivered }) => delivered)}::bigint[],
      ${counts.map(({ exhausted }) => exhausted)}::bigint[], ${counts.map(({ latencyMs }) => latencyMs)}::bigint[],
      ${counts.map(({ latencyMsMax }) => latencyMsMax)}::bigint[]
    ) AS c (lease, endpoint_id, start, attempts, delivered, exhausted, latency, latency_max)
    WHERE own.tenants[c.lease] IS NOT NULL
    ORDER BY 1, 2, 3
    ON CONFLICT (tenant_id, endpoint_id, start) DO UPDATE SET
      attempts = w.attempts + excluded.attempts, delivered = w.delivered + excluded.delivered,
      exhausted = w.exhausted + excluded.exhausted, latency_ms = w.latency_ms + excluded.latency_ms,
      latency_ms_max = greatest(w.latency_ms_max, excluded.latency_ms_max)`;
}

function sumUp(
  results: readonly AttemptResult[],
  places: ReadonlyMap<EndpointLease, number>,
): readonly HourCount[] {
  const sums = new Map<string, HourCount>();
  for (const { lease, attempt, next } of results) {
    const startMs = Math.floor(Date.parse(attempt.at) / hourMs) * hourMs;
    const latencyMs = Math.round(attempt.latencyMs);
    const key = `${lease.endpointId} ${startMs}`;
    const sum = sums.get(key) ?? {
      lease: 0,
      endpointId: lease.endpointId,
      startMs,
      attempts: 0,
      delivered: 0,
      exhausted: 0,
      latencyMs: 0,
      latencyMsMax: 0,
    };
    // If an endpoint was lost and acquired again, its last lease is the one that can still hold.
    sum.lease = places.get(lease) ?? 0;
    sum.attempts += 1;
    if (next.state !== "pending") sum[next.state] += 1;
    sum.latencyMs += latencyMs;
    sum.latencyMsMax = Math.max(sum.latencyMsMax, latencyMs);
    sums.set(key, sum);
  }
  return [...sums.values()];
}
