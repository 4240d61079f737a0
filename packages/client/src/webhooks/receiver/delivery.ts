import type { BursarEvent } from "../../resources/event-kinds.js";
import type { StoredDelivery } from "./receiver-store.js";

/** What a store keeps of an event that was delivered, or read from the log under an id of our own. */
export function deliveryOf(event: BursarEvent & { delivery_id: string }, epoch: string): StoredDelivery {
  const { subject, version } = subjectOf(event);
  return {
    id: event.delivery_id,
    // Resends and replays have ids of their own. The epoch is that of the attempt, so it is no part of the event.
    eventKey: [event.sequence, event.event, subject ?? "", version ?? "", event.occurred_at].join("/"),
    epoch,
    sequence: event.sequence,
    subject,
    version,
    body: JSON.stringify(event),
  };
}

function subjectOf({ data }: BursarEvent): { subject: string | null; version: number | null } {
  for (const [name, value] of Object.entries(data as unknown as Record<string, unknown>)) {
    if (name === "previous_state" || typeof value !== "object" || value === null) continue;
    const { id, version } = value as { id?: unknown; version?: unknown };
    if (typeof id === "string" && Number.isSafeInteger(version))
      return { subject: id, version: version as number };
  }
  return { subject: null, version: null };
}
