import type { RetainedKey } from "../../app/access/integrity-keys.js";
import { OperatorError } from "../../operator-error.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { keyChains } from "./audit.js";
import { authenticateClients } from "./authenticate-clients.js";

/** Any number that no other user of the same database is likely to lock. */
const integrityLock = 2_917_640_058;

/**
 * Takes the retained keys into use. The first time, it also authenticates what an earlier version has stored without a key. That happens
 * once: later, rows without a MAC were not written by the service. Several processes may start at once.
 */
export async function prepareIntegrity(
  database: Database,
  retain: (stored: readonly RetainedKey[]) => RetainedKey[],
  now: Date,
): Promise<void> {
  const stored = await listRetainedKeys(database);
  if (stored.length > 0 && retain(stored).length === 0) return;
  await database.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${integrityLock})`);
    const current = await listRetainedKeys(tx);
    if (current.length === 0) await authenticateFirst(tx, now);
    for (const key of retain(current)) storeRetainedKey(tx, key);
  });
}

async function authenticateFirst(tx: Tx, now: Date): Promise<void> {
  const [row] = await tx.query<{ isAuthenticated: boolean }>(sql`
    SELECT EXISTS (SELECT FROM audit_heads WHERE mac IS NOT NULL) OR EXISTS (SELECT FROM clients WHERE mac IS NOT NULL)
      AS "isAuthenticated"
  `);
  if (row?.isAuthenticated === true) {
    throw new OperatorError(
      "The table retained_keys is empty, although the audit log and the clients were authenticated before. Restore its rows from a backup.",
    );
  }
  await keyChains(tx, now);
  await authenticateClients(tx);
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
