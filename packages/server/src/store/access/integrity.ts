import type { RetainedKey } from "../../app/access/integrity-keys.js";
import { firstEntries } from "../../app/audit/operator-entries.js";
import { OperatorError } from "../../operator-error.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit, keyChains } from "./audit.js";
import { authenticateClients } from "./authenticate-clients.js";

/** Any number that no other user of the same database is likely to lock. */
const integrityLock = 2_917_640_058;

type Retain = (stored: readonly RetainedKey[]) => RetainedKey[];

/**
 * Takes the retained keys into use, and begins the audit log of a new database. A database that has clients or an audit log but no retained
 * keys is refused: whether an earlier version has written it, or somebody has removed the keys so that rows without a MAC are accepted,
 * cannot be read from the database. Several processes may start at once.
 */
export async function prepareIntegrity(database: Database, retain: Retain, now: Date): Promise<void> {
  const stored = await listRetainedKeys(database);
  if (stored.length > 0 && retain(stored).length === 0) return;
  await retainKeys(database, retain, async (tx) => {
    if (!(await isNew(tx)))
      throw new OperatorError(
        "The database has clients or an audit log, but the keys that authenticate them are missing from the table retained_keys. If they were removed, restore the table from a backup. If the database was written by a version without these keys, review its clients and run `bursar keys adopt` once.",
      );
    await beginLog(tx, now);
  });
}

/** Begins the chains that no client or operator begins, unless an earlier version has begun them. Served by the primary key. */
async function beginLog(tx: Tx, now: Date): Promise<void> {
  const entries = firstEntries(now);
  const begun = await tx.query<{ tenantId: string }>(sql`
    SELECT tenant_id AS "tenantId" FROM audit_heads WHERE tenant_id = ANY(${entries.map(({ tenantId }) => tenantId)})
  `);
  await appendAudit(
    tx,
    entries.filter((entry) => !begun.some(({ tenantId }) => tenantId === entry.tenantId)),
  );
}

/**
 * Authenticates what an earlier version has stored without keys, as it is. Only the operator decides that, because every row counts as
 * genuine afterwards. Returns false if there are keys, and changes nothing.
 */
export async function adoptDatabase(database: Database, retain: Retain, now: Date): Promise<boolean> {
  if ((await listRetainedKeys(database)).length > 0) return false;
  await retainKeys(database, retain, async (tx) => {
    if (await isAuthenticated(tx))
      throw new OperatorError(
        "The table retained_keys is empty, although the audit log and the clients were authenticated before. Restore its rows from a backup.",
      );
    await keyChains(tx, now);
    await beginLog(tx, now);
    await authenticateClients(tx);
  });
  return true;
}

async function retainKeys(
  database: Database,
  retain: Retain,
  begin: (tx: Tx) => Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${integrityLock})`);
    const current = await listRetainedKeys(tx);
    if (current.length === 0) await begin(tx);
    for (const key of retain(current)) storeRetainedKey(tx, key);
  });
}

async function isNew(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ isNew: boolean }>(sql`
    SELECT NOT EXISTS (SELECT FROM clients) AND NOT EXISTS (SELECT FROM audit_heads)
      AND NOT EXISTS (SELECT FROM audit_entries) AS "isNew"
  `);
  return row?.isNew === true;
}

/**
 * Whether anything names the key that it was authenticated with. Who removes the retained keys can remove a MAC from a row as well, but not
 * from the entries of the audit log, which nobody may change. No index serves it; it runs once in the life of a database.
 */
async function isAuthenticated(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ isAuthenticated: boolean }>(sql`
    SELECT EXISTS (SELECT FROM audit_heads WHERE mac IS NOT NULL OR key_id IS NOT NULL)
      OR EXISTS (SELECT FROM audit_bases WHERE mac IS NOT NULL OR key_id IS NOT NULL)
      OR EXISTS (SELECT FROM clients WHERE mac IS NOT NULL OR key_id IS NOT NULL)
      OR EXISTS (SELECT FROM client_secrets WHERE key_id IS NOT NULL)
      OR EXISTS (SELECT FROM audit_entries WHERE key_id IS NOT NULL) AS "isAuthenticated"
  `);
  return row?.isAuthenticated === true;
}

async function listRetainedKeys(source: Queryable): Promise<RetainedKey[]> {
  return await source.query<RetainedKey>(sql`
    SELECT key_id AS "keyId", label, sealed FROM retained_keys ORDER BY key_id, label
  `);
}

function storeRetainedKey(tx: Tx, { keyId, label, sealed }: RetainedKey): void {
  tx.send(sql`
    INSERT INTO retained_keys (key_id, label, sealed) VALUES (${keyId}, ${label}, ${Buffer.from(sealed)})
    ON CONFLICT (key_id, label) DO UPDATE SET sealed = excluded.sealed
  `);
}
