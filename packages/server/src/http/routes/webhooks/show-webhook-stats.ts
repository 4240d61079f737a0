import { showId, WebhookEndpointPath, WebhookEndpointStats, WebhookStatsQuery } from "@bursar/protocol";
import { itemsOfScan } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { type BoundedCount, type EndpointStats, quantileOf } from "../../../app/webhooks/endpoint-stats.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function showWebhookStats({ showEndpointStats }: Pick<UseCases, "showEndpointStats">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-endpoints/:id/stats",
      access: "webhooks:manage",
      operationId: "showWebhookStats",
      tag: "Webhooks",
      summary: "Read how a webhook endpoint is doing",
      description:
        "Attempts by hour, what waits, and how fast the receiver answers. Hours are retained as long as deliveries. Tests and challenges are not counted.",
      params: WebhookEndpointPath,
      query: WebhookStatsQuery,
      success: { status: 200, schema: WebhookEndpointStats, description: "How the endpoint is doing." },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const id = endpointIdOf(request.params);
      const { hours = 24 } = request.query;
      const stats = unwrap(await showEndpointStats(tenantId, id, hours));
      const { latencies, pending, resendable } = stats;
      request.itemsFound = itemsOfScan(latencies.length + pending.count + resendable.count);
      return presentStats(id, stats);
    },
  );
}

function presentStats(id: string, stats: EndpointStats): WebhookEndpointStats {
  const { from, hours, latencies, pending, resendable } = stats;
  const sum = (name: "attempts" | "delivered" | "exhausted") =>
    hours.reduce((total, hour) => total + hour[name], 0);
  const [attempts, delivered] = [sum("attempts"), sum("delivered")];
  return {
    object: "webhook_endpoint_stats",
    endpoint_id: showId("whe", id),
    from: from.toISOString(),
    attempts,
    delivered,
    exhausted: sum("exhausted"),
    success_rate: attempts === 0 ? null : delivered / attempts,
    hours: hours.map((hour) => ({
      start: hour.start.toISOString(),
      attempts: hour.attempts,
      delivered: hour.delivered,
      exhausted: hour.exhausted,
      latency_ms: Math.round(hour.latencyMs / hour.attempts),
      latency_ms_max: hour.latencyMsMax,
    })),
    latency: presentLatency(latencies),
    pending: {
      ...presentCount(pending),
      oldest_at: pending.oldestAt?.toISOString() ?? null,
      next_attempt_at: pending.nextAttemptAt?.toISOString() ?? null,
    },
    resendable: presentCount(resendable),
  };
}

function presentLatency(latencies: readonly number[]): WebhookEndpointStats["latency"] {
  const sorted = latencies.toSorted((a, b) => a - b);
  const [p50, p95, max] = [quantileOf(sorted, 0.5), quantileOf(sorted, 0.95), sorted.at(-1)];
  if (p50 === undefined || p95 === undefined || max === undefined) return null;
  return { sample: sorted.length, p50_ms: p50, p95_ms: p95, max_ms: max };
}

export function presentCount({ count, isBound }: BoundedCount): { count: number; has_more: boolean } {
  return { count, has_more: isBound };
}
