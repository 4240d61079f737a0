import type pg from "pg";
import { OperatorError } from "../../../operator-error.js";
import type { Database } from "../database.js";

/** A process that stands still in the middle of a transaction, as in a frozen machine, holds up others no longer than this. */
const idleInTransactionMs = 10_000;

/**
 * Every statement of the service is served by an index, and tables grow from nothing to millions of rows under prepared statements. A
 * plan made for an empty table must not scan the full one, so sequential scans are disabled; so are bitmap scans, which read all
 * matching rows before they return the first, while an ordered index stops after a page. One generic plan per statement is enough, and
 * compiling a statement that takes microseconds never pays. Without the join and plan settings, lists of transactions read up to 10,000
 * index rows for a page of 120; without any of them most statements scan (decision 0025, and the test of plans).
 */
const plannerSettings = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_mergejoin: "off",
  enable_hashjoin: "off",
  plan_cache_mode: "force_generic_plan",
  jit: "off",
};

/**
 * How values are written and read, and what a transaction sees. A role or a database can have other defaults: with `array_nulls = off` a
 * NULL in an array becomes a string, and with another time zone a date another day.
 */
const meaningSettings = {
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  TimeZone: "UTC",
  array_nulls: "on",
  bytea_output: "hex",
  client_encoding: "UTF8",
  standard_conforming_strings: "on",
  transform_null_equals: "off",
  xmloption: "content",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  row_security: "on",
};

/**
 * Set in every session of ours. A new connection that finds it was given the session of another one, which would lose its settings, locks
 * and prepared statements to it.
 */
const sessionMark = "bursar.session";

export interface SessionOptions {
  statementTimeoutMs: number;
  /** The schema with the tables of Bursar. */
  schema: string;
  /** How long setting and reading them may take. */
  timeoutMs: number;
}

/**
 * Sets what the service relies on in a new session, and reads it back. Startup options would be one round trip less, but a URL can replace
 * them, and a pooler can drop them, in both cases silently.
 */
export async function prepareSession(client: pg.ClientBase, options: SessionOptions): Promise<void> {
  const wanted: Readonly<Record<string, string>> = {
    ...plannerSettings,
    ...meaningSettings,
    statement_timeout: String(options.statementTimeoutMs),
    lock_timeout: "0",
    // It would end connections of the pool, some of them just when they are used.
    idle_session_timeout: "0",
    idle_in_transaction_session_timeout: String(idleInTransactionMs),
    // Temporary tables are searched last, so that none can stand in for a table of Bursar.
    search_path: `"${options.schema}", pg_temp`,
  };
  const run = (text: string) => client.query({ text, query_timeout: options.timeoutMs } as pg.QueryConfig);
  const values = Object.entries(wanted).map(([name, value]) => `('${name}', '${value}')`);
  const [written, read] = await Promise.all([
    // `remote_apply` and the like are the operator's choice, but a commit is on disk when it is answered.
    run(`
      SELECT pg_catalog.current_setting('${sessionMark}', true) AS mark;
      SELECT pg_catalog.set_config('${sessionMark}', 'in use', false);
      SELECT pg_catalog.set_config(name, value, false) FROM (VALUES ${values}) AS wanted (name, value);
      SELECT pg_catalog.set_config('synchronous_commit', 'on', false)
      WHERE pg_catalog.current_setting('synchronous_commit') = 'off'`),
    run(`
      SELECT name, setting FROM pg_catalog.pg_settings
      WHERE name IN ('synchronous_commit', ${Object.keys(wanted).map((name) => `'${name}'`)})`),
  ]);
  // The driver returns a list for several statements.
  const [before] = written as unknown as pg.QueryResult<{ mark: string | null }>[];
  if (before?.rows[0]?.mark) throw sharedSession();
  const found = new Map(
    (read.rows as { name: string; setting: string }[]).map(({ name, setting }) => [name, setting]),
  );
  for (const [name, value] of Object.entries(wanted))
    if (found.get(name) !== value) throw notKept(name, value, found.get(name));
  if (found.get("synchronous_commit") === "off") throw notKept("synchronous_commit", "on", "off");
}

/**
 * Lets the server look whether the client is still there while it runs a statement: otherwise one that was cancelled reads on to its end.
 * Not every server can; PostgreSQL 14 can on Linux only.
 */
export async function checkClient(client: pg.ClientBase, everyMs: number): Promise<void> {
  await client.query(`SET client_connection_check_interval = ${everyMs}`).catch(() => undefined);
}

/** Two connections at a time, because a pooler in transaction mode may give a single one the same session each time. */
export async function assertOwnSessions(database: Database): Promise<void> {
  await database.session(() => database.session(async () => undefined));
}

function sharedSession(): OperatorError {
  return new OperatorError(
    "Connections to the database share their sessions, as with a pooler in transaction mode, which Bursar does not support. Set pool_mode = session in PgBouncer, or connect to PostgreSQL directly.",
  );
}

function notKept(name: string, wanted: string, found: string | undefined): OperatorError {
  return new OperatorError(
    `A connection to the database does not keep its settings: ${name} is ${found ?? "missing"} and not ${wanted}. Connect to PostgreSQL directly, or through a pooler in session mode.`,
  );
}
