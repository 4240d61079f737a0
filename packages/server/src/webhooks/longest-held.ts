import type { EndpointQueue } from "./endpoint-queue.js";

/**
 * Chooses queues to be given back, so that the tenants with the most end up with equal numbers, and of each tenant those that it has held
 * longest. `mayBeGiven` says which ones can be given back.
 */
export function longestHeld(
  queues: readonly EndpointQueue[],
  mayBeGiven: (queue: EndpointQueue) => boolean,
  count: number,
): EndpointQueue[] {
  const countOf = new Map<string, number>();
  for (const { lease } of queues) countOf.set(lease.tenantId, (countOf.get(lease.tenantId) ?? 0) + 1);
  const candidates = queues
    .filter(mayBeGiven)
    .sort((one, other) => one.heldSinceMs - other.heldSinceMs)
    .map((queue) => {
      // How many its tenant has when this one is the next to be given back.
      const left = countOf.get(queue.lease.tenantId) ?? 0;
      countOf.set(queue.lease.tenantId, left - 1);
      return { queue, left };
    });
  // A stable sort: of tenants with as many, the longest held is first.
  return candidates
    .sort((one, other) => other.left - one.left)
    .slice(0, count)
    .map(({ queue }) => queue);
}
