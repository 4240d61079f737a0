import type { WebhookEndpoint } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";

export function useStats(id: string) {
  return useQuery({
    queryKey: ["webhooks", "stats", id],
    queryFn: ({ signal }) => bursar.webhookEndpoints.stats(id, { hours: 24 }, { signal }),
    refetchInterval: 10_000,
  });
}

/** One word for how an endpoint is doing. */
export function healthOf({ state, verified_at, failing_since, disabled_reason }: WebhookEndpoint): string {
  if (state === "disabled") return disabled_reason === "requested" ? "paused" : "disabled";
  if (verified_at === null) return "unverified";
  return failing_since === null ? "healthy" : "failing";
}

/** Never rounded up to a whole: 99.99 % is not all. */
export function percentOf(share: number): string {
  return `${Math.floor(share * 1000) / 10} %`;
}
