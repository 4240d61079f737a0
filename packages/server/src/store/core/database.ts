import { createHash } from "node:crypto";
import pg from "pg";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { CommittedFact, CommitWitnesses } from "../../runtime/database/commit-witnesses.js";
import { type ConfirmDatabase, createDatabaseConfirmer } from "../../runtime/database/confirm-database.js";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import { createConnections } from "./connection/connections.js";
import { createStorageFault } from "./connection/storage-fault.js";
import { answerInTime, createUnanswered, UnansweredError } from "./connection/unanswered.js";
import {
  DatabaseUnavailableError,
  explain,
  isAnswered,
  isSchemaMissing,
  lockNotAvailable,
  OutcomeUnknownError,
} from "./database-unavailable-error.js";
import { identifyDatabase } from "./identity/identify-database.js";
import type { RunText } from "./identity/read-server.js";
import type { RefusedServerError } from "./identity/refused-server.js";
import { inTransaction } from "./in-transaction.js";
import { parameterText } from "./parameter-text.js";
import { Statement } from "./sql.js";

/** Something that runs statements: the pool, a transaction, or one session of it. */
export interface Queryable {
  query: <Row>(statement: Statement) => Promise<Row[]>;
}

/** The keys belong to the database, so that no store can forget to authenticate what it writes. */
export interface KeyedQueryable extends Queryable {
  /** Undefined if the database was opened without a master key, as for migrations. */
  keys?: IntegrityKeys;
}

export interface Tx extends KeyedQueryable {
  /**
   * Sends a statement whose rows are not needed, without waiting: it is sent together with what follows. If it fails, the transaction
   * fails.
   */
  send: (statement: Statement) => void;
  /** Runs the work after the commit, and not if the commit failed or its outcome is unknown. */
  afterCommit: (work: () => void) => void;
  /** Names something that this transaction writes. If the database does not have it after a restart, committed data was lost. */
  witness: (fact: CommittedFact) => void;
  /** What this process knows to be in the audit logs, or may have written there. */
  entries: Pick<CommitWitnesses, "lastEntry" | "entriesInDoubt" | "settle">;
}

/**
 * The pool of connections to PostgreSQL. Work that began before the database was found to be another one, such as after a promotion, fails
 * as if the database were unavailable: what it was decided on may not exist there, and what it has written may be lost.
 */
export interface Database extends KeyedQueryable {
  /** Which database it is. Every connection is checked before it is used. */
  identity: DatabaseIdentity;
  /** What is known to be committed, to compare it with the database after a restart. */
  witnesses: Pick<CommitWitnesses, "committed" | "read">;
  /** Checks it on a connection that is open: an operator can begin a new epoch, and a standby can be promoted. */
  identify: () => Promise<void>;
  /** Does so before something is shown from memory. */
  confirm: ConfirmDatabase;
  /** Runs the work in a transaction: committed when it resolves, rolled back when it rejects. */
  transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /**
   * Gives the work one connection to itself, for locks that belong to a session, for scripts of many statements, and for looking at a
   * database whose tables may be missing.
   */
  session: <T>(work: (session: Session) => Promise<T>) => Promise<T>;
  /** How the connections of the pool are used. */
  poolUse: () => PoolUse;
  /** Rejects while the server answers but cannot write: a disk of it is full or fails, or its commits hang. */
  assertStores: () => Promise<void>;
  close: () => Promise<void>;
}

/** Connections of the pool, and callers that wait for one. */
interface PoolUse {
  inUse: number;
  idle: number;
  waiting: number;
  max: number;
}

export interface Session extends Queryable {
  /** Several statements without parameters. */
  script: (text: string, timeoutMs?: number) => Promise<void>;
}

export interface DatabaseOptions {
  /** May name several servers; of those that take writes, the one on the highest timeline is used. */
  url: string;
  connectionsMax: number;
  /** The schema with the tables; `public` if left out. */
  schema?: string;
  /** How long a statement may take; left out, as long as a service can wait. */
  statementTimeoutMs?: number;
  /** How often the server looks whether the client is still there while a statement runs; left out, it does not. */
  checkClientEveryMs?: number;
  /** How long to wait for a connection, a new one or one of the pool. */
  connectTimeoutMs?: number;
  /** Called with the name of a server that is refused because it is an old primary or an empty server; again after a minute. */
  onRefusedServer?: (name: string, error: RefusedServerError) => void;
}

/**
 * How long a statement may take before the database counts as unavailable. To TCP a server that hangs looks like a slow one
 * for many minutes; callers need an answer sooner.
 */
const statementTimeoutDefaultMs = 15_000;
const schemaDefault = "public";

export function openDatabase({
  url,
  connectionsMax,
  schema = schemaDefault,
  statementTimeoutMs = statementTimeoutDefaultMs,
  ...rest
}: DatabaseOptions): Database {
  const { pool, identity, witnesses, connect, hasOthers, lookForLaterServer } = createConnections({
    url,
    connectionsMax,
    schema,
    statementTimeoutMs,
    checkClientEveryMs: rest.checkClientEveryMs,
    connectTimeoutMs: rest.connectTimeoutMs,
    onRefusedServer: rest.onRefusedServer,
  });
  const storageFault = createStorageFault(() => performance.now());
  const unanswered = createUnanswered(pool, connectionsMax, () => performance.now());

  async function session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const generation = identity.generation();
    const client = await connect();
    let isBroken = false;
    let isUnanswered = false;
    const run = async (config: pg.QueryConfig, timeoutMs = statementTimeoutMs) => {
      const askedMs = performance.now();
      try {
        const result = await answerInTime(client.query(config), timeoutMs);
        if (identity.generation() === generation) identity.answered(askedMs);
        return result;
      } catch (error) {
        isBroken ||= !isAnswered(error);
        isUnanswered ||= error instanceof UnansweredError;
        storageFault.note(error);
        return explain(error);
      }
    };
    try {
      if (identity.generation() !== generation) throw changedError();
      const result = await work({
        query: async <Row>(statement: Statement) => (await run(prepare(statement))).rows as Row[],
        script: async (text, timeoutMs = statementTimeoutMs) => void (await run({ text }, timeoutMs)),
      });
      // If it has written something, that may be lost.
      if (identity.generation() !== generation)
        throw new OutcomeUnknownError("the database has changed", { cause: changed });
      return result;
    } finally {
      if (isUnanswered) unanswered.abandon(client);
      else client.release(isBroken);
    }
  }

  const identify = () => {
    lookForLaterServer();
    return session(async (connection) => {
      const run: RunText = (text, values = []) => connection.query(new Statement(text, values));
      await identifyDatabase(run, { identity, witnesses, isAlone: false, hasOthers });
    });
  };

  /** As above, unless tables are missing. When one is found missing, the database is looked at at once: a restore may have begun. */
  let isLooking = false;
  const lookAgain = async () => {
    if (isLooking) return;
    isLooking = true;
    await identify().catch(() => undefined);
    isLooking = false;
  };
  const watchedSession: typeof session = async (work) => {
    if (identity.isIncomplete())
      throw new DatabaseUnavailableError("tables are missing", { cause: incomplete });
    try {
      return await session(work);
    } catch (error) {
      if (isSchemaMissing(error)) void lookAgain();
      throw error;
    }
  };

  const query: Database["query"] = (statement) => watchedSession((connection) => connection.query(statement));

  const transaction: Database["transaction"] = (work) => {
    const generation = identity.generation();
    return watchedSession((connection) =>
      inTransaction(connection, work, { onSent: unanswered.followCommit, witnesses, generation }),
    );
  };

  return {
    identity,
    witnesses,
    identify,
    confirm: createDatabaseConfirmer({ identity, ask: identify, monotonicMs: () => performance.now() }),
    session,
    query,
    transaction,
    poolUse: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      // The pool hands an idle connection over in the next turn, so what asks for one now waits for nothing.
      waiting: Math.max(0, pool.waitingCount - pool.idleCount),
      max: connectionsMax,
    }),
    assertStores: async () => {
      await storageFault.assertNone(session);
      await unanswered.assertCommits({ query });
    },
    close: async () => {
      unanswered.close();
      await pool.end();
    },
  };
}

/** Throws if something was checked against another generation of the database than it is to be written to. */
export function assertGeneration(
  { identity }: Pick<Database, "identity">,
  checked: readonly { generation?: number }[],
): void {
  const current = identity.generation();
  if (checked.some(({ generation = current }) => generation !== current)) throw changedError();
}

const incomplete = new Error("tables were missing, and have not been found to be complete again");
const changed = new Error("the database is another one, or has restarted, since this began");

function changedError(): DatabaseUnavailableError {
  return new DatabaseUnavailableError("the database has changed", { cause: changed });
}

/** The same database, whose stores authenticate what they write with these keys. */
export function withKeys(database: Database, keys: IntegrityKeys): Database {
  return { ...database, keys, transaction: (work) => database.transaction((tx) => work({ ...tx, keys })) };
}

export function requireKeys({ keys }: KeyedQueryable): IntegrityKeys {
  if (keys === undefined) throw new Error("the database was opened without a master key");
  return keys;
}

/** Statements are prepared once a connection, under a name made from their text: the texts in the code are few. */
function prepare({ text, values }: Statement): pg.QueryConfig {
  return { text, values: values.map(parameterText), name: nameOf(text) };
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  names.set(text, name);
  return name;
}

/** A statement has waited for a lock for as long as `lock_timeout` says. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === lockNotAvailable;
}

/** The server has ended a statement because it took too long. Such a database counts as unavailable, unless one row is to blame. */
export function isStatementTimeout(error: unknown): boolean {
  return stateOf(error) === "57014";
}

/** Whether a row was refused because of a constraint or unique index with this name. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

function stateOf(error: unknown): string | undefined {
  if (!(error instanceof DatabaseUnavailableError)) return undefined;
  return error.cause instanceof pg.DatabaseError ? error.cause.code : undefined;
}

/** Whether the database is to blame and not the request or the row: it cannot be reached, cannot do its work, or lacks its schema. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || isSchemaMissing(error);
}
