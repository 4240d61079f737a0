import type { LogReaderStore } from "../../app/overview/log-reader.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { boundLockWaits } from "../core/lock-waits.js";
import { sql } from "../core/sql.js";
import { type LogSlice, projectEvents } from "./project-events.js";
import { shareEvents } from "./share-events.js";

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

interface Backlog {
  tenantId: string;
  from: string;
  head: string;
}

/** What is read of each log, and less than all if a log has more than its share. Served by the primary keys. */
async function findSlices(
  tx: Queryable,
  positions: readonly Position[],
  eventsMax: number,
): Promise<(LogSlice & { hasMore: boolean })[]> {
  const backlogs = await findBacklogs(tx, positions);
  if (backlogs.length === 0) return [];
  const shares = shareEvents(
    backlogs.map(({ from, head }) => Number(BigInt(head) - BigInt(from))),
    eventsMax,
  );
  const rows = await tx.query<Backlog & { last: string | null }>(sql`
    SELECT p.tenant_id AS "tenantId", p.sequence AS "from", p.head, (
        SELECT e.sequence FROM events e WHERE e.tenant_id = p.tenant_id AND e.sequence > p.sequence AND e.sequence <= p.head
        ORDER BY sequence OFFSET p.share - 1 LIMIT 1) AS last
    FROM unnest(${backlogs.map(({ tenantId }) => tenantId)}::uuid[], ${backlogs.map(({ from }) => from)}::bigint[],
        ${backlogs.map(({ head }) => head)}::bigint[], ${shares.map(String)}::bigint[])
      AS p (tenant_id, sequence, head, share)
  `);
  return rows.map(({ tenantId, from, head, last }) => ({
    ...{ tenantId, from: BigInt(from), to: BigInt(last ?? head) },
    hasMore: last !== null && BigInt(last) < BigInt(head),
  }));
}

/** The logs that have more than was read. Served by the primary keys. */
function findBacklogs(tx: Queryable, positions: readonly Position[]): Promise<Backlog[]> {
  return tx.query<Backlog>(sql`
    SELECT p.tenant_id AS "tenantId", p.sequence AS "from", s.sequence AS head
    FROM unnest(${positions.map(({ tenantId }) => tenantId)}::uuid[], ${positions.map(({ sequence }) => sequence)}::bigint[])
      AS p (tenant_id, sequence)
    CROSS JOIN LATERAL (
      SELECT h.sequence FROM event_sequences h WHERE h.tenant_id = p.tenant_id AND h.sequence > p.sequence LIMIT 1) s
  `);
}
