import type {
  EventPositions,
  EventReader,
  EventStore,
  LoggedEvent,
  LostRange,
} from "../../app/events/event.js";
import type { CommittedFact } from "../../runtime/database/commit-witnesses.js";
import type { WakeUps } from "../../runtime/loops/wake-ups.js";
import type { Database, Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { planDeliveries, readSubscribers, withDeliveries } from "../webhooks/webhook-queue.js";

/** An event to append; it gets its sequence when it is written. */
export interface NewEvent extends Omit<LoggedEvent, "sequence"> {
  tenantId: string;
}

interface EventRow extends Omit<LoggedEvent, "sequence"> {
  sequence: string;
}

export function createEventStore(database: Database): EventStore & EventReader & EventPositions {
  // Served by the primary key.
  const read = async (where: Statement) => {
    const rows = await database.query<EventRow>(sql`
      SELECT sequence, event, subject_id AS "subjectId", version, state, previous_state AS "previousState",
        failure_code AS "failureCode", occurred_at AS "occurredAt", details, actor_id AS "actorId"
      FROM events ${where}
    `);
    return rows.map(readEvent);
  };
  return {
    listEvents: async (tenantId, after, limit) => {
      const generation = database.identity.generation();
      const events = await read(
        sql`WHERE tenant_id = ${tenantId} AND sequence > ${after} ORDER BY sequence LIMIT ${limit}`,
      );
      const last = events.length < limit ? events.at(-1) : undefined;
      if (last !== undefined) database.witnesses.read(generation, factOf(tenantId, last));
      return events;
    },
    readEvents: (tenantId, sequences) =>
      read(
        sql`WHERE tenant_id = ${tenantId} AND sequence = ANY(${[...sequences]}::bigint[]) ORDER BY sequence`,
      ),
    // Served by the primary key.
    readHeads: async (tenantIds) => {
      const rows = await database.query<{ tenant_id: string; sequence: string }>(
        sql`SELECT tenant_id, sequence FROM event_sequences WHERE tenant_id = ANY(${[...tenantIds]}::uuid[])`,
      );
      return new Map(rows.map((row) => [row.tenant_id, Number(row.sequence)]));
    },
    // Served by the primary key.
    readOldest: async (tenantId) => {
      const [row] = await database.query<{ sequence: string }>(
        sql`SELECT sequence FROM events WHERE tenant_id = ${tenantId} ORDER BY sequence LIMIT 1`,
      );
      return row === undefined ? undefined : Number(row.sequence);
    },
    // Served by the primary key.
    findLost: (tenantId, sequence) =>
      readLost(
        database,
        sql`tenant_id = ${tenantId} AND kept < ${sequence} AND lifted > ${sequence} ORDER BY kept DESC LIMIT 1`,
      ),
    findLostAfter: (tenantId, sequence) =>
      readLost(database, sql`tenant_id = ${tenantId} AND kept = ${sequence}`),
  };
}

async function readLost(database: Database, where: Statement): Promise<LostRange | undefined> {
  const [row] = await database.query<Record<keyof LostRange, string>>(
    sql`SELECT kept, lifted FROM lifted_sequences WHERE ${where}`,
  );
  return row && { kept: Number(row.kept), lifted: Number(row.lifted) };
}

/** What identifies an event besides its sequence, as `hasLostCommit` compares it. */
function factOf(
  tenantId: string,
  { sequence, subjectId, version, occurredAt }: WitnessedEvent,
): CommittedFact {
  return { kind: "event", tenantId, at: sequence, mark: `${subjectId} ${version} ${occurredAt.getTime()}` };
}

type WitnessedEvent = Pick<LoggedEvent, "sequence" | "subjectId" | "version" | "occurredAt">;

/** Copies field by field, because this runs for every event and spreading takes forty times as long. */
function readEvent(row: EventRow): LoggedEvent {
  return {
    sequence: Number(row.sequence),
    event: row.event,
    subjectId: row.subjectId,
    version: row.version,
    state: row.state,
    previousState: row.previousState,
    failureCode: row.failureCode,
    occurredAt: row.occurredAt,
    details: row.details,
    actorId: row.actorId ?? null,
  };
}

/** The event log, which records every change. */
export interface EventLog {
  /**
   * Appends events to the logs of their tenants and notifies subscribers after the commit. The counters stay locked until then, in the
   * order of the tenants, so that every log is gapless and in commit order. For that reason they are the last rows that a SQL transaction
   * locks: what the events are about comes first, then the heads of audit chains (`appendAudit`), then these.
   */
  append: (tx: Tx, events: readonly NewEvent[]) => Promise<void>;
  /** Locks the logs of tenants as `append` does, for callers that write other rows which must be in the log's commit order. */
  lock: (tx: Tx, tenantIds: Iterable<string>) => void;
}

export function createEventLog(wakeUps: Pick<WakeUps, "publish">): EventLog {
  return {
    append: async (tx, events) => {
      if (events.length === 0) return;
      const { tenantsWithEndpoints, deferred } = await appendEvents(tx, events);
      const tenantIds = [...new Set(events.map(({ tenantId }) => tenantId))];
      tx.afterCommit(() => {
        wakeUps.publish("events", tenantIds);
        if (tenantsWithEndpoints.length > 0) wakeUps.publish("deliveries", tenantsWithEndpoints);
        if (deferred.length > 0) wakeUps.publish("backlogs", deferred);
      });
    },
    // Served by the primary key. An empty log gets a counter, so that there is a row to lock.
    lock: (tx, tenantIds) =>
      tx.send(sql`
        INSERT INTO event_sequences (tenant_id, sequence)
        SELECT tenant_id, 0 FROM unnest(${[...new Set(tenantIds)].sort()}::uuid[]) AS wanted (tenant_id)
        ON CONFLICT (tenant_id) DO UPDATE SET sequence = event_sequences.sequence
      `),
  };
}

/**
 * Inserts events and their deliveries. Returns the tenants that have an enabled endpoint, and those whose deliveries are written later.
 * The endpoints are read by a statement of its own: it sees what was committed while the counters were waited for, such as the endpoint that
 * a tenant has just enabled. Both are sent together, so they are one round trip for any number of tenants.
 */
async function appendEvents(tx: Tx, events: readonly NewEvent[]) {
  const counts = new Map<string, number>();
  for (const { tenantId } of events) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  const tenantIds = [...counts.keys()].sort();
  const [next, subscribers] = await Promise.all([
    countEvents(tx, tenantIds, counts),
    readSubscribers(tx, tenantIds),
  ]);
  const sequences = events.map(({ tenantId }) => {
    const sequence = next.get(tenantId) ?? 0;
    next.set(tenantId, sequence + 1);
    return sequence;
  });
  // One is enough, because a commit is lost as a whole.
  const last = events.at(-1);
  if (last !== undefined) tx.witness(factOf(last.tenantId, { ...last, sequence: sequences.at(-1) ?? 0 }));
  const plan = planDeliveries(subscribers, counts);
  const insert = insertEvents(events, sequences);
  tx.send(subscribers.length > 0 ? withDeliveries(insert, plan) : insert);
  return { tenantsWithEndpoints: subscribers.map(({ tenantId }) => tenantId), deferred: plan.deferred };
}

/** Locks the counters in the order of the tenants, and returns the first sequence of each. Served by the primary key. */
async function countEvents(tx: Tx, tenantIds: readonly string[], counts: ReadonlyMap<string, number>) {
  const rows = await tx.query<{ tenantId: string; sequence: string }>(sql`
    INSERT INTO event_sequences (tenant_id, sequence)
    SELECT tenant_id, count
    FROM unnest(${[...tenantIds]}::uuid[], ${tenantIds.map((id) => counts.get(id))}::bigint[]) AS given (tenant_id, count)
    ON CONFLICT (tenant_id) DO UPDATE SET sequence = event_sequences.sequence + excluded.sequence
    RETURNING tenant_id AS "tenantId", sequence
  `);
  return new Map(
    rows.map(({ tenantId, sequence }) => [tenantId, Number(sequence) - (counts.get(tenantId) ?? 0) + 1]),
  );
}

function insertEvents(events: readonly NewEvent[], sequences: readonly number[]): Statement {
  const column = <T>(pick: (event: NewEvent) => T) => events.map(pick);
  return sql`
    INSERT INTO events
      (tenant_id, sequence, event, subject_id, version, state, previous_state, failure_code, occurred_at, details, actor_id)
    SELECT * FROM unnest(
      ${column((e) => e.tenantId)}::uuid[], ${[...sequences]}::bigint[], ${column((e) => e.event)}::text[],
      ${column((e) => e.subjectId)}::uuid[], ${column((e) => e.version)}::integer[], ${column((e) => e.state)}::text[],
      ${column((e) => e.previousState)}::text[], ${column((e) => e.failureCode)}::text[],
      ${column((e) => e.occurredAt)}::timestamptz[],
      ${column((e) => (e.details === undefined ? null : JSON.stringify(e.details)))}::jsonb[],
      ${column((e) => e.actorId ?? null)}::uuid[])
  `;
}
