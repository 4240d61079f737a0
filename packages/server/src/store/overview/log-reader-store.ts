import type { LogReaderStore } from "../../app/overview/log-reader.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { boundLockWaits } from "../core/lock-waits.js";
import { sql } from "../core/sql.js";
import { type LogSlice, projectEvents } from "./project-events.js";

/** No more tenants are looked at by one statement. */
const tenantsMax = 200;
/** Far longer than a step of another process takes. Afterwards the step fails, and its logs are read alone. */
const lockTimeoutMs = 1000;

export function createLogReaderStore(database: Database): LogReaderStore {
  return {
    // Served by the primary keys.
    findBehind: async (after) => {
      const rows = await database.query<{ tenantId: string; isBehind: boolean }>(sql`
        SELECT s.tenant_id AS "tenantId", s.sequence > coalesce(
            (SELECT p.sequence FROM log_positions p WHERE p.tenant_id = s.tenant_id), 0) AS "isBehind"
        FROM event_sequences s ${after === undefined ? sql`` : sql`WHERE s.tenant_id > ${after}`}
        ORDER BY s.tenant_id LIMIT ${tenantsMax}
      `);
      return {
        tenantIds: rows.filter(({ isBehind }) => isBehind).map(({ tenantId }) => tenantId),
        lastTenantId: rows.length < tenantsMax ? undefined : rows.at(-1)?.tenantId,
      };
    },
    readSome: (tenantIds, eventsMax) => database.transaction((tx) => readSome(tx, tenantIds, eventsMax)),
  };
}

/**
 * The positions are locked until the commit, so no two processes read the same events, and they are moved together with what the events
 * cause. The counter of a log is locked until its events are committed, so all events up to it are visible. After a recovery the counter can
 * be ahead of the last event.
 */
async function readSome(tx: Tx, tenantIds: readonly string[], eventsMax: number): Promise<string[]> {
  boundLockWaits(tx, lockTimeoutMs);
  const slices = await findSlices(tx, await lockPositions(tx, tenantIds), eventsMax);
  if (slices.length === 0) return [];
  projectEvents(tx, slices);
  tx.send(sql`
    UPDATE log_positions p SET sequence = moved.sequence
    FROM unnest(${slices.map(({ tenantId }) => tenantId)}::uuid[], ${slices.map(({ to }) => to.toString())}::bigint[])
      AS moved (tenant_id, sequence)
    WHERE p.tenant_id = moved.tenant_id
  `);
  return slices.filter(({ hasMore }) => hasMore).map(({ tenantId }) => tenantId);
}

interface Position {
  tenantId: string;
  sequence: string;
}

/** Without those that another process has locked. A log that was never read gets a position. Served by the primary key. */
async function lockPositions(tx: Tx, tenantIds: readonly string[]): Promise<Position[]> {
  const locked = await tx.query<Position>(sql`
    SELECT tenant_id AS "tenantId", sequence FROM log_positions WHERE tenant_id = ANY (${[...tenantIds]}::uuid[])
    ORDER BY tenant_id FOR UPDATE SKIP LOCKED
  `);
  const known = new Set(locked.map(({ tenantId }) => tenantId));
  const others = tenantIds.filter((id) => !known.has(id)).sort();
  if (others.length === 0) return locked;
  const begun = await tx.query<Position>(sql`
    INSERT INTO log_positions (tenant_id, sequence) SELECT id, 0 FROM unnest(${others}::uuid[]) AS other (id)
    ON CONFLICT DO NOTHING RETURNING tenant_id AS "tenantId", sequence
  `);
  return [...locked, ...begun];
}

/** What is read of each log: the same number of events, and less than all if a log has more. Served by the primary keys. */
async function findSlices(
  tx: Queryable,
  positions: readonly Position[],
  eventsMax: number,
): Promise<(LogSlice & { hasMore: boolean })[]> {
  if (positions.length === 0) return [];
  const share = Math.max(1, Math.floor(eventsMax / positions.length));
  const rows = await tx.query<{ tenantId: string; from: string; head: string; last: string | null }>(sql`
    SELECT p.tenant_id AS "tenantId", p.sequence AS "from", h.sequence AS head, (
        SELECT e.sequence FROM events e WHERE e.tenant_id = p.tenant_id AND e.sequence > p.sequence AND e.sequence <= h.sequence
        ORDER BY sequence OFFSET ${share - 1} LIMIT 1) AS last
    FROM unnest(${positions.map(({ tenantId }) => tenantId)}::uuid[], ${positions.map(({ sequence }) => sequence)}::bigint[])
      AS p (tenant_id, sequence)
    CROSS JOIN LATERAL (
      SELECT s.sequence FROM event_sequences s WHERE s.tenant_id = p.tenant_id AND s.sequence > p.sequence LIMIT 1) h
  `);
  return rows.map(({ tenantId, from, head, last }) => ({
    ...{ tenantId, from: BigInt(from), to: BigInt(last ?? head) },
    hasMore: last !== null && BigInt(last) < BigInt(head),
  }));
}
