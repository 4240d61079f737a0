import { readId, type Scope } from "@bursar/protocol";
import type { IntegrityKeys } from "../../../src/app/access/integrity-keys.js";
import { writeSeal } from "../../../src/store/access/client-integrity.js";
import { type ClientRow, readUnchecked, selectClients } from "../../../src/store/access/read-client.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import type { InspectableService, TestClient } from "../service/test-service.js";

/** Writes many authentic clients at once, without credentials and older than any payment; `controllersOf` gets the ids of all of them. */
export async function insertClients(
  { database, keys }: Pick<InspectableService, "database" | "keys">,
  { tenantId }: Pick<TestClient, "tenantId">,
  count: number,
  controllersOf: (index: number, ids: readonly string[]) => readonly string[],
  scopes: readonly Scope[] = ["transactions:approve"],
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await withKeys(database, keys).transaction(async (tx) => {
    for (const [index, id] of ids.entries())
      tx.send(sql`
        INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, quotas, created_at, updated_at,
          authority_changed_at, controllers)
        VALUES (${id}, ${readId("tnt", tenantId)}, 'c', ${[...scopes]}, 'active', false, '{}', '2020-01-01', '2020-01-01',
          '2020-01-01', ${[...controllersOf(index, ids)]})
      `);
    const rows = await tx.query<ClientRow>(sql`${selectClients} WHERE clients.id = ANY (${ids}::uuid[])`);
    for (const row of rows) writeSeal(tx, readUnchecked(row));
  });
  return ids;
}

/** Each client is created by the one before it, and the first by the operator. */
export const inChain = (index: number, ids: readonly string[]): string[] =>
  ids.slice(Math.max(0, index - 1), index);

/** The keys of a service, and how many rows of clients were verified with them. */
export function countVerifications({ keys }: Pick<InspectableService, "keys">) {
  const counted = { count: 0 };
  const counting: IntegrityKeys = {
    ...keys,
    derive: (label, keyId) => {
      if (label === "client row") counted.count += 1;
      return keys.derive(label, keyId);
    },
  };
  return { counted, keys: counting };
}

/** Makes a client one that these control, as if each had given it a credential. */
export async function setControllers(
  { database, keys }: Pick<InspectableService, "database" | "keys">,
  clientId: string,
  controllers: readonly string[],
): Promise<void> {
  await withKeys(database, keys).transaction(async (tx) => {
    const id = readId("cli", clientId) ?? clientId;
    tx.send(sql`UPDATE clients SET controllers = ${[...controllers]}::uuid[] WHERE id = ${id}`);
    const rows = await tx.query<ClientRow>(sql`${selectClients} WHERE clients.id = ${id}`);
    for (const row of rows) writeSeal(tx, readUnchecked(row));
  });
}
