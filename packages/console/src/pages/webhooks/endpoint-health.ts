import type { WebhookEndpoint } from "@bursar/client";

/** Beyond this, the overview counts no further. A tenant has at most 500. */
const endpointsMax = 1000;

/** How many of how many endpoints need somebody. */
export async function countFailing(
  pages: AsyncIterable<{ data: WebhookEndpoint[]; next_cursor: string | null }>,
  max = endpointsMax,
): Promise<{ failing: number; all: number; isCut: boolean }> {
  const counts = { failing: 0, all: 0, isCut: false };
  for await (const { data, next_cursor } of pages) {
    counts.all += data.length;
    counts.failing += data.filter((endpoint) => ["failing", "disabled"].includes(healthOf(endpoint))).length;
    counts.isCut = next_cursor !== null;
    if (counts.all >= max) break;
  }
  return counts;
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
