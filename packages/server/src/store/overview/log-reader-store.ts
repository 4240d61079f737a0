import type { LogReaderStore } from "../../app/overview/log-reader.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { writeTransactionPeriods, writeWalletEntries } from "./project-events.js";

/** No more tenants are looked at by one statement. */
const tenantsMax = 200;

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
    readSome: (tenantId, eventsMax) => database.transaction((tx) => readSome(tx, tenantId, eventsMax)),
  };
}

/**
 * The position is locked until the commit, so no two processes read the same events, and it is moved together with what they cause. The end
 * of the log is read before its events: its counter is locked until the events are committed, so all up to it are visible. After a
 * recovery the counter can be ahead of the last event.
 */
async function readSome(tx: Tx, tenantId: string, eventsMax: number): Promise<boolean> {
  const from = await lockPosition(tx, tenantId);
  if (from === undefined) return false;
  const head = await readHead(tx, tenantId);
  if (head <= from) return false;
  const [last] = await tx.query<{ sequence: string }>(sql`
    SELECT sequence FROM events WHERE tenant_id = ${tenantId} AND sequence > ${from.toString()} AND sequence <= ${head.toString()}
    ORDER BY sequence OFFSET ${eventsMax - 1} LIMIT 1
  `);
  const to = last === undefined ? head : BigInt(last.sequence);
  const slice = { tenantId, from, to };
  writeWalletEntries(tx, slice);
  writeTransactionPeriods(tx, slice);
  tx.send(sql`UPDATE log_positions SET sequence = ${to.toString()} WHERE tenant_id = ${tenantId}`);
  return to < head;
}

/** Undefined if another process has locked it. A log that was never read gets a position. Served by the primary key. */
async function lockPosition(tx: Tx, tenantId: string): Promise<bigint | undefined> {
  const lock = () =>
    tx.query<{ sequence: string }>(
      sql`SELECT sequence FROM log_positions WHERE tenant_id = ${tenantId} FOR UPDATE SKIP LOCKED`,
    );
  const [known] = await lock();
  if (known !== undefined) return BigInt(known.sequence);
  const [begun] = await tx.query<{ sequence: string }>(sql`
    INSERT INTO log_positions (tenant_id, sequence) VALUES (${tenantId}, 0) ON CONFLICT DO NOTHING RETURNING sequence
  `);
  return begun === undefined ? undefined : BigInt(begun.sequence);
}

/** Served by the primary key. */
async function readHead(tx: Queryable, tenantId: string): Promise<bigint> {
  const [row] = await tx.query<{ sequence: string }>(
    sql`SELECT sequence FROM event_sequences WHERE tenant_id = ${tenantId}`,
  );
  return BigInt(row?.sequence ?? 0);
}
