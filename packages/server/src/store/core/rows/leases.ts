import type { Lease } from "../../../runtime/loops/lease.js";
import { joinStatements, type Statement, sql } from "../sql.js";
import { locateRows } from "./locate-rows.js";

/**
 * Fenced leases in SQL, on any table that has `holder`, `fence` and `expires_at` beside its primary key. They are columns of a table of
 * the subject and not rows of one table of leases, because what is written under a lease locks and checks that row anyway: a market's
 * batch moves its position and checks the fence in one UPDATE, while a separate table would be a second row to lock in every commit.
 *
 * All times are the database's. If its clock is set back, as by a failover to a machine whose clock is behind, a lease of a process that is
 * gone would last that much longer. One that lasts longer than any lease can is therefore free; the fence makes that safe. In every statement `l` is the table and every row is found by the primary key.
 */
export interface LeaseTable<Key> {
  table: Statement;
  /** The columns of the primary key, and the fields of a lease that hold their values. */
  key: readonly { column: Statement; type: Statement; of: (key: Key) => string }[];
  /** The column with the time at which the holder has acquired it, if people are shown that. */
  since?: Statement;
  /**
   * Whether others than the holder of a lease write to its row. Such a row is found by its key: one that had to be waited for has another place
   * when it is compared again, and the lease would count as lost. PostgreSQL may then read the whole table, which must be small.
   */
  isWrittenByOthers: boolean;
}

/** Which leases to acquire: a query for their keys. */
export interface Candidates {
  keys: Statement;
  limit: number;
}

/** Returns the keys, holders and fences of what was acquired. What another process is acquiring at this moment is skipped. */
export function acquireLeases<Key>(
  leases: LeaseTable<Key>,
  { keys, limit }: Candidates,
  holder: string,
  leaseMs: number,
): Statement {
  return sql`
    WITH free AS MATERIALIZED (
      SELECT l.place FROM (${keys}) AS wanted CROSS JOIN LATERAL (
        SELECT l.ctid AS place FROM ${leases.table} l
        WHERE ${isWanted(leases)} AND l.expires_at NOT BETWEEN clock_timestamp() AND ${expiry(leaseMaxMs)}
        FOR UPDATE SKIP LOCKED) AS l
      LIMIT ${limit}
    )
    UPDATE ${leases.table} l SET holder = ${holder}, fence = l.fence + 1, expires_at = ${expiry(leaseMs)}${
      leases.since === undefined ? sql`` : sql`, ${leases.since} = clock_timestamp()`
    }
    WHERE l.ctid = ANY (ARRAY(SELECT place FROM free))
    RETURNING ${keyColumns(leases)}, l.holder, l.fence
  `;
}

/** Returns the keys, holders and fences of what is still held. */
export function renewLeases<Key>(
  leases: LeaseTable<Key>,
  held: readonly (Key & Lease)[],
  leaseMs: number,
): Statement {
  return sql`
    UPDATE ${leases.table} l SET expires_at = ${expiry(leaseMs)}
    FROM ${listHeld(leases, held)}
    RETURNING ${keyColumns(leases)}, l.holder, l.fence
  `;
}

/** Nobody acquires them before they have rested. */
export function releaseLeases<Key>(
  leases: LeaseTable<Key>,
  held: readonly (Key & Lease)[],
  restMs = 0,
): Statement {
  return sql`
    UPDATE ${leases.table} l SET holder = NULL, expires_at = ${restMs === 0 ? sql`'-infinity'` : expiry(restMs)}
    FROM ${listHeld(leases, held)}
  `;
}

/** The rest of an UPDATE of the rows `l` that are still held by these leases. */
function listHeld<Key>(leases: LeaseTable<Key>, held: readonly (Key & Lease)[]): Statement {
  if (!leases.isWrittenByOthers) return sql`${locateLeases(leases, held)} WHERE ${matchLeases()}`;
  return sql`${giveLeases(leases, held)} WHERE ${hasKeyOf(leases, sql`l`)} AND l.holder = given.holder AND l.fence = given.fence`;
}

/**
 * Leases as rows of `own`, each with its position in the list and the place of its row, to be compared by `matchLeases`. A row that changes
 * while the statement waits for it matches no more.
 */
export function locateLeases<Key>(leases: LeaseTable<Key>, held: readonly (Key & Lease)[]): Statement {
  return sql`${locateRows(leases.table, giveLeases(leases, held), hasKeyOf(leases, sql`r`))} AS own`;
}

/** The fence check, for statements that join `own`: whether the row `l` is still held by that lease. */
export function matchLeases(): Statement {
  return sql`l.ctid = own.place AND l.holder = own.holder AND l.fence = own.fence`;
}

function giveLeases<Key>({ key }: LeaseTable<Key>, held: readonly (Key & Lease)[]): Statement {
  const keys = key.map(({ type, of }) => sql`${held.map(of)}::${type}[]`);
  const names = key.map(({ column }) => column);
  return sql`unnest(
    ${joinStatements(keys, ", ")}, ${held.map(({ holder }) => holder)}::uuid[], ${held.map(({ fence }) => fence)}::bigint[]
  ) WITH ORDINALITY AS given (${joinStatements(names, ", ")}, holder, fence, position)`;
}

function hasKeyOf<Key>({ key }: LeaseTable<Key>, row: Statement): Statement {
  return joinStatements(
    key.map(({ column }) => sql`${row}.${column} = given.${column}`),
    " AND ",
  );
}

/** The fence check for one lease. In an UPDATE it locks the row: until the commit no other process can acquire the lease. */
export function isHeld<Key>({ key }: LeaseTable<Key>, lease: Key & Lease): Statement {
  const keys = key.map(({ column, of }) => sql`l.${column} = ${of(lease)}`);
  return sql`${joinStatements(keys, " AND ")} AND l.holder = ${lease.holder} AND l.fence = ${lease.fence}`;
}

/** Longer than a market with a million orders takes to restore. */
const leaseMaxMs = 300_000;

export function expiry(leaseMs: number): Statement {
  return sql`clock_timestamp() + ${leaseMs} * interval '1 ms'`;
}

function isWanted<Key>({ key }: LeaseTable<Key>): Statement {
  return joinStatements(
    key.map(({ column }) => sql`l.${column} = wanted.${column}`),
    " AND ",
  );
}

function keyColumns<Key>({ key }: LeaseTable<Key>): Statement {
  return joinStatements(
    key.map(({ column }) => sql`l.${column}`),
    ", ",
  );
}
