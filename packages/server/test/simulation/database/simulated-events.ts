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
  const next = new Map<string, number>();
  for (const tenantId of [...new Set(appended.map((event) => event.tenantId))].sort()) {
    const count = appended.filter((event) => event.tenantId === tenantId).length;
    const last = await run("count events", async (rows) => {
      await rows.lock(eventSequences, tenantId);
      const sequence = (rows.get(eventSequences, tenantId) ?? 0) + count;
      rows.put(eventSequences, tenantId, sequence);
      return sequence;
    });
    next.set(tenantId, last - count + 1);
  }
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
