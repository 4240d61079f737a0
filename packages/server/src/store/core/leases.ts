import type { Lease } from "../../runtime/lease.js";
import { joinStatements, type Statement, sql } from "./sql.js";

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
}

/** Which leases to acquire: those of `from`, which must have the table as `l`, that match. */
export interface Candidates {
  from: Statement;
  where: Statement;
  limit: number;
}

/** Returns the keys, holders and fences of what was acquired. What another process is acquiring at this moment is skipped. */
export function acquireLeases<Key>(
  leases: LeaseTable<Key>,
  { from, where, limit }: Candidates,
  holder: string,
  leaseMs: number,
): Statement {
  return sql`
    WITH free AS (
      SELECT ${keyColumns(leases)} FROM ${from}
      WHERE ${where} AND l.expires_at NOT BETWEEN clock_timestamp() AND ${expiry(leaseMaxMs)}
      LIMIT ${limit} FOR UPDATE OF l SKIP LOCKED
    )
    UPDATE ${leases.table} l SET holder = ${holder}, fence = l.fence + 1, expires_at = ${expiry(leaseMs)}
    FROM free WHERE ${matchKeys(leases, sql`free`)}
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
    FROM ${listLeases(leases, held)} WHERE ${matchLeases(leases)}
    RETURNING ${keyColumns(leases)}, l.holder, l.fence
  `;
}

export function releaseLeases<Key>(leases: LeaseTable<Key>, held: readonly (Key & Lease)[]): Statement {
  return sql`
    UPDATE ${leases.table} l SET holder = NULL, expires_at = '-infinity'
    FROM ${listLeases(leases, held)} WHERE ${matchLeases(leases)}
  `;
}

/** Leases as rows of `own`, each with its place in the list, to be compared by `matchLeases`. */
export function listLeases<Key>({ key }: LeaseTable<Key>, held: readonly (Key & Lease)[]): Statement {
  const keys = key.map(({ type, of }) => sql`${held.map(of)}::${type}[]`);
  const names = key.map(({ column }) => column);
  return sql`unnest(
    ${joinStatements(keys, ", ")}, ${held.map(({ holder }) => holder)}::uuid[], ${held.map(({ fence }) => fence)}::bigint[]
  ) WITH ORDINALITY AS own (${joinStatements(names, ", ")}, holder, fence, place)`;
}

/** The fence check, for statements that join `own`: whether the row `l` is still held by that lease. */
export function matchLeases<Key>(leases: LeaseTable<Key>): Statement {
  return sql`${matchKeys(leases, sql`own`)} AND l.holder = own.holder AND l.fence = own.fence`;
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

function keyColumns<Key>({ key }: LeaseTable<Key>): Statement {
  return joinStatements(
    key.map(({ column }) => sql`l.${column}`),
    ", ",
  );
}

function matchKeys<Key>({ key }: LeaseTable<Key>, other: Statement): Statement {
  return joinStatements(
    key.map(({ column }) => sql`l.${column} = ${other}.${column}`),
    " AND ",
  );
}
