import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";
import { BrokenRule, DatabaseGone, StatementRefused } from "./database-faults.js";
import { createLocks, type LockMode } from "./simulated-locks.js";
import { createRows, type Rows, type Tables, type Undo } from "./simulated-rows.js";

/**
 * A database in memory with the promises of PostgreSQL at READ COMMITTED: a transaction is seen by others when it is committed, all
 * of it or nothing; row locks are held until its end; who needs a lock waits for it. Every statement and every commit is a turn of
 * the scheduler, and may fail in every way that a real one can.
 */
export interface SimulatedDatabase {
  tables: Tables;
  /** One statement, committed by itself. */
  query: <T>(actor: Actor, what: string, statement: Statement<T>) => Promise<T>;
  /** Committed when the work resolves, rolled back when it rejects. */
  transaction: <T>(actor: Actor, work: (run: RunStatement) => Promise<T>) => Promise<T>;
  /** Its clock, which a failover can change. */
  now: () => number;
  setClock: (errorMs: number) => void;
  /** Counts the servers that were the database, one after the other. */
  epoch: () => number;
  /** How many commits have changed something. */
  commits: () => number;
  /** Fails over to a server that lacks the last commits that have changed something. Returns the rows that are gone. */
  rewind: (commits: number) => readonly LostRow[];
  /** Every connection breaks, and for this long there are no new ones. */
  goAway: (durationMs: number) => void;
  /** The connections of a process break; what it has not committed is undone. */
  breakConnections: (actor: Actor) => void;
  /** Transactions that waited for each other, by what they wanted. */
  deadlocks: readonly string[];
}

/** A row that was committed, and is no longer there. */
export type LostRow = Pick<Undo, "table" | "key">;

type Statement<T> = (rows: Rows) => T | Promise<T>;
export type RunStatement = <T>(what: string, statement: Statement<T>) => Promise<T>;

/** How often what goes wrong, for one statement. */
export interface FaultRates {
  refused: number;
  /** The connection breaks before the statement is done. */
  cut: number;
  /** The connection breaks when it is done and before the answer is there. */
  answerLost: number;
}

interface Connection {
  actor: Actor;
  rows: Rows;
  isBroken: boolean;
}

interface SimulatedDatabaseDeps {
  scheduler: Scheduler;
  random: Random;
  /** What goes wrong now. */
  rates: () => FaultRates;
  /** Lets a planted bug change how statements see the tables. */
  disguise: (rows: Rows, tables: Tables) => Rows;
}

const pauseBeforeLock = 0.15;

export function createSimulatedDatabase(deps: SimulatedDatabaseDeps): SimulatedDatabase {
  const { scheduler, random, rates, disguise } = deps;
  const tables: Tables = new Map();
  const connections = new Set<Connection>();
  const deadlocks: string[] = [];
  let awayUntilMs = 0;
  let clockErrorMs = 0;
  let epoch = 1;
  /** What undoes each commit, oldest first. */
  const history: Undo[][] = [];
  const locks = createLocks<Connection>(({ actor }, wake) =>
    scheduler.after(actor, 0, "stops waiting for a lock", wake),
  );

  function connect(actor: Actor): Connection {
    const connection: Connection = { actor, isBroken: false, rows: undefined as unknown as Rows };
    const waitFor = async (name: string, mode: LockMode) => {
      // A statement that locks many rows is not alone between two of them.
      if (random.chance(pauseBeforeLock)) await scheduler.turn(actor, `goes on to ${name}`);
      if (connection.isBroken) throw new DatabaseGone("the connection broke");
      while (locks.inTheWay(connection, name, mode).length > 0) {
        const wait = locks.wait(connection, name, mode);
        if (wait === undefined) {
          deadlocks.push(name);
          throw new BrokenRule(`a deadlock over ${name}`);
        }
        await wait;
        if (connection.isBroken) throw new DatabaseGone("the connection broke");
      }
    };
    const rowLocks = {
      waitFor,
      take: (name: string, mode: LockMode) => locks.take(connection, name, mode),
      isLocked: (name: string) => locks.inTheWay(connection, name, "exclusive").length > 0,
    };
    connection.rows = disguise(createRows(tables, rowLocks), tables);
    connections.add(connection);
    return connection;
  }

  /** Undoes what was not committed, and releases the locks. */
  function end(connection: Connection): void {
    connections.delete(connection);
    locks.releaseAll(connection);
  }

  function lose(connection: Connection): void {
    connection.isBroken = true;
    end(connection);
  }

  function breakAll(): void {
    for (const connection of [...connections]) lose(connection);
  }

  /** One message to the server. It may not arrive, or be refused. */
  async function arrive(connection: Connection, what: string): Promise<void> {
    await scheduler.turn(connection.actor, what);
    const { refused, cut } = rates();
    if (scheduler.now() < awayUntilMs || random.chance(cut)) lose(connection);
    if (connection.isBroken) throw new DatabaseGone("the connection broke");
    if (random.chance(refused)) throw new StatementRefused("the statement was refused");
  }

  async function commit(connection: Connection, what: string): Promise<void> {
    const undos = connection.rows.commit();
    if (undos.length > 0) history.push(undos);
    end(connection);
    const committedIn = epoch;
    await scheduler.turn(connection.actor, `${what}, answered`);
    // A server that is replaced takes most of its answers with it; some were on their way.
    if (epoch !== committedIn && random.chance(0.7)) throw new DatabaseGone("the answer was lost");
    if (scheduler.now() < awayUntilMs || random.chance(rates().answerLost))
      throw new DatabaseGone("the answer was lost");
  }

  return {
    tables,
    deadlocks,
    query: async (actor, what, statement) => {
      const connection = connect(actor);
      try {
        await arrive(connection, what);
        const result = await statement(connection.rows);
        await commit(connection, what);
        return result;
      } finally {
        end(connection);
      }
    },
    transaction: async (actor, work) => {
      const connection = connect(actor);
      try {
        const result = await work(async (what, statement) => {
          await arrive(connection, what);
          return await statement(connection.rows);
        });
        await arrive(connection, "commit");
        await commit(connection, "commit");
        return result;
      } finally {
        end(connection);
      }
    },
    now: () => scheduler.now() + clockErrorMs,
    setClock: (errorMs) => {
      clockErrorMs = errorMs;
    },
    epoch: () => epoch,
    commits: () => history.length,
    rewind: (commits) => {
      breakAll();
      epoch += 1;
      const undone = history
        .splice(Math.max(0, history.length - commits))
        .flat()
        .reverse();
      for (const { table, key, before } of undone) {
        if (before === undefined) tables.get(table)?.delete(key);
        else tables.get(table)?.set(key, before);
      }
      return undone.filter(({ table, key }) => !tables.get(table)?.has(key));
    },
    goAway: (durationMs) => {
      awayUntilMs = scheduler.now() + durationMs;
      breakAll();
    },
    breakConnections: (actor) => {
      for (const connection of [...connections]) if (connection.actor === actor) lose(connection);
    },
  };
}
