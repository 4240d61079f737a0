import type { Database, Queryable } from "../database.js";
import { type Statement, sql } from "../sql.js";

/**
 * Everything that a client creates is inserted this way. The idempotency key is a column of the row that it protects, unique within the
 * tenant, and the insert does nothing if the key is taken: of two requests at once the second waits for the first to commit and then finds
 * its row. There is no look before the insert that a race could get past, and no key without its row.
 */
interface Keyed {
  tenantId: string;
  id: string;
  idempotencyKey: string;
}

interface EarlierRow {
  tenantId: string;
  key: string;
}

export interface InsertOrFind<Item, Row, Found> {
  /** Inserts what is new, in the order given; returns the ids of the others, whose keys are taken. */
  insert: (ordered: readonly Item[]) => Promise<{ id: string }[]>;
  find: (conflicting: readonly Item[]) => Promise<Row[]>;
  read: (row: Row) => Found;
  /** Returns when everything that was found is committed as durably as what is inserted now. */
  confirm: () => Promise<void>;
}

/**
 * Inserts a batch; returns for each item what has used its key before, or undefined if it was inserted. All batches insert in the order of
 * their keys, so that two which share some never wait for each other.
 */
export async function insertOrFindAll<Item extends Keyed, Row extends EarlierRow, Found>(
  items: readonly Item[],
  { insert, find, read, confirm }: InsertOrFind<Item, Row, Found>,
): Promise<(Found | undefined)[]> {
  const conflicts = new Set((await insert(items.toSorted(byKey))).map(({ id }) => id));
  if (conflicts.size === 0) return items.map(() => undefined);
  const found = new Map<string, Found>();
  for (const row of await find(items.filter(({ id }) => conflicts.has(id))))
    found.set(`${row.tenantId} ${row.key}`, read(row));
  await confirm();
  return items.map(({ id, tenantId, idempotencyKey }) =>
    conflicts.has(id) ? expectFound(found.get(`${tenantId} ${idempotencyKey}`)) : undefined,
  );
}

/**
 * A row can be visible before its synchronous standby has it: a server that restarts does not wait for what was about to be committed. So
 * an answer that names such a row waits for a commit after it, which waits for the standby like any other.
 */
export async function confirmCommits(database: Queryable): Promise<void> {
  await database.query(sql`SELECT pg_logical_emit_message(true, 'bursar', '') IS NULL AS written`);
}

/** Remembers one of the rows that a batch has inserted: it is lost only with all of them. */
export function witnessInserted(
  { witnesses }: Pick<Database, "witnesses">,
  generation: number,
  kind: "transaction" | "order",
  items: readonly Keyed[],
  found: readonly unknown[],
): void {
  const inserted = items[found.lastIndexOf(undefined)];
  if (inserted === undefined) return;
  witnesses.committed(generation, { kind, tenantId: inserted.tenantId, at: inserted.id, mark: "" });
}

/** Inserts one row; returns what has used its key before, or undefined if it was inserted. */
export async function insertOrFind<Found>(
  insert: () => Promise<boolean>,
  find: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  return (await insert()) ? undefined : expectFound(await find());
}

/** Rows are never deleted while their keys count, so a row that caused a conflict exists. */
function expectFound<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new Error("the row that an idempotency key belongs to does not exist");
  return found;
}

/**
 * The row that a request with this key has inserted, with the hash of that request. The answer that names it waits for the standby: here,
 * or at the commit of the transaction that looks. Served by the unique index on the key.
 */
export async function findByKey<Row>(
  source: Queryable,
  { columns, table, scope = sql`` }: { columns: Statement; table: Statement; scope?: Statement },
  tenantId: string,
  key: string | undefined,
): Promise<(Row & { requestHash: string }) | undefined> {
  const [row] = await source.query<Row & { requestHash: string }>(sql`
    SELECT ${columns}, encode(request_hash, 'hex') AS "requestHash" FROM ${table}
    WHERE tenant_id = ${tenantId} AND idempotency_key = ${key ?? null} ${scope}
  `);
  if (row !== undefined) await confirmCommits(source);
  return row;
}

function byKey(one: Keyed, other: Keyed): number {
  if (one.idempotencyKey !== other.idempotencyKey) return one.idempotencyKey < other.idempotencyKey ? -1 : 1;
  if (one.tenantId !== other.tenantId) return one.tenantId < other.tenantId ? -1 : 1;
  return 0;
}
