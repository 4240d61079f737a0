import { BrokenRule } from "./database-faults.js";
import type { LockMode } from "./simulated-locks.js";

/** What was committed: rows by their keys, table by table. A row is never changed, only replaced. */
export type Tables = Map<string, Map<string, unknown>>;

/** A table's name, with the form of its rows. */
export interface Table<Row> {
  readonly name: string;
  /** Never there; it carries the type. */
  readonly row?: Row;
}

/** The rows as one transaction sees them: what was committed, and its own changes. */
export interface Rows {
  get: <Row>(table: Table<Row>, key: string) => Row | undefined;
  /** All rows, in the order of their keys. */
  all: <Row>(table: Table<Row>) => Row[];
  put: <Row>(table: Table<Row>, key: string, row: Row) => void;
  remove: (table: Table<unknown>, key: string) => void;
  /** Inserts a row whose key must be new. */
  insert: <Row>(table: Table<Row>, key: string, row: Row) => void;
  /** Whether an insert with this key can go ahead: waits for another that is about to insert the same. */
  isFree: (table: Table<unknown>, key: string) => Promise<boolean>;
  lock: (table: Table<unknown>, key: string, mode?: LockMode) => Promise<void>;
  /** Locks the row if nobody has it. */
  lockUnlessLocked: (table: Table<unknown>, key: string) => boolean;
  /** Returns what undoes it. */
  commit: () => Undo[];
}

/** What a row was before a commit; undefined if it was not there. */
export interface Undo {
  table: string;
  key: string;
  before: unknown;
}

interface RowLocks {
  /** Waits until the lock can be had. */
  waitFor: (name: string, mode: LockMode) => Promise<void>;
  take: (name: string, mode: LockMode) => void;
  isLocked: (name: string) => boolean;
}

const removed = Symbol("removed");

/** Most tables are written in the order of their keys. */
function inOrder(keys: Iterable<string>): readonly string[] {
  const list = [...keys];
  for (let index = 1; index < list.length; index++)
    if ((list[index - 1] as string) > (list[index] as string)) return list.sort();
  return list;
}

export function createRows(tables: Tables, { waitFor, take, isLocked }: RowLocks): Rows {
  const changes = new Map<string, Map<string, unknown>>();
  const inserted: { table: string; key: string }[] = [];

  function change(table: string, key: string, row: unknown): void {
    const own = changes.get(table) ?? new Map<string, unknown>();
    changes.set(table, own);
    own.set(key, row);
  }

  function get(table: Table<unknown>, key: string): unknown {
    const own = changes.get(table.name)?.get(key);
    if (own !== undefined) return own === removed ? undefined : own;
    return tables.get(table.name)?.get(key);
  }

  const lockName = (table: Table<unknown>, key: string) => `${table.name} ${key}`;

  return {
    get: <Row>(table: Table<Row>, key: string) => get(table, key) as Row | undefined,
    all: <Row>(table: Table<Row>) => {
      const committed = tables.get(table.name)?.keys() ?? [];
      const own = changes.get(table.name)?.keys();
      const keys = own === undefined ? committed : new Set([...committed, ...own]);
      return inOrder(keys).flatMap((key) => (get(table, key) as Row | undefined) ?? []);
    },
    put: (table, key, row) => change(table.name, key, row),
    remove: (table, key) => change(table.name, key, removed),
    insert: (table, key, row) => {
      if (get(table, key) !== undefined) throw new BrokenRule(`${table.name} has ${key} already`);
      inserted.push({ table: table.name, key });
      change(table.name, key, row);
    },
    isFree: async (table, key) => {
      if (get(table, key) !== undefined) return false;
      await waitFor(lockName(table, key), "exclusive");
      if (get(table, key) !== undefined) return false;
      take(lockName(table, key), "exclusive");
      return true;
    },
    lock: async (table, key, mode = "exclusive") => {
      await waitFor(lockName(table, key), mode);
      take(lockName(table, key), mode);
    },
    lockUnlessLocked: (table, key) => {
      if (isLocked(lockName(table, key))) return false;
      take(lockName(table, key), "exclusive");
      return true;
    },
    commit: () => {
      for (const { table, key } of inserted)
        if (tables.get(table)?.has(key)) throw new BrokenRule(`${table} has ${key} already`);
      const undos: Undo[] = [];
      for (const [name, rows] of changes) {
        const table = tables.get(name) ?? new Map<string, unknown>();
        tables.set(name, table);
        for (const [key, row] of rows) {
          undos.push({ table: name, key, before: table.get(key) });
          if (row === removed) table.delete(key);
          else table.set(key, row);
        }
      }
      return undos;
    },
  };
}
