import type { EventStore } from "../../../src/app/events/event.js";
import type { Actor } from "../world/scheduler.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import {
  eventSequences,
  events,
  eventsBySubject,
  keyOf,
  type StoredEvent,
  sequenceKey,
} from "./simulated-tables.js";

/** `store/events.ts`, on the simulated database. */
export function createSimulatedEventStore(database: SimulatedDatabase, actor: Actor): EventStore {
  return {
    listEvents: (tenantId, after, limit) =>
      database.query(actor, "list events", (rows) =>
        rows
          .all(events)
          .filter((event) => event.tenantId === tenantId && event.sequence > after)
          .slice(0, limit),
      ),
  };
}

export async function appendEvents(
  run: RunStatement,
  appended: readonly Omit<StoredEvent, "sequence">[],
): Promise<void> {
  if (appended.length === 0) return;
  const counts = new Map<string, number>();
  for (const { tenantId } of appended) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  const next = await run("count events", async (rows) => {
    const first = new Map<string, number>();
    for (const tenantId of [...counts.keys()].sort()) {
      await rows.lock(eventSequences, tenantId);
      const last = rows.get(eventSequences, tenantId) ?? 0;
      rows.put(eventSequences, tenantId, last + (counts.get(tenantId) ?? 0));
      first.set(tenantId, last + 1);
    }
    return first;
  });
  await run("insert events", (rows) => {
    for (const event of appended) {
      const sequence = next.get(event.tenantId) ?? 0;
      next.set(event.tenantId, sequence + 1);
      const stored = { ...event, sequence };
      rows.insert(events, sequenceKey(event.tenantId, sequence), stored);
      rows.insert(eventsBySubject, keyOf(event.tenantId, event.subjectId, String(event.version)), stored);
    }
  });
}
