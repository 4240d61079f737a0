import { sealKeyEnd } from "../../../src/app/audit/key-ends.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import type { Database } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";

/**
 * What a thief of a master key can do while it is the current one: the database retains a key of his, and has records that it, and a key of
 * before, count up to a number far ahead. Returns the id of his key.
 */
export async function plantKey(
  database: Database,
  stolenKey: Uint8Array,
  inventedKey: Uint8Array,
  earlierKey: Uint8Array,
): Promise<string> {
  const idOf = (key: Uint8Array) => createKeyring([key]).current.id;
  const keys = createIntegrityKeys(createSealing(createKeyring([stolenKey, inventedKey])));
  for (const { keyId, label, sealed } of keys.retain([]).filter(({ keyId }) => keyId === idOf(inventedKey)))
    await database.query(sql`
      INSERT INTO retained_keys (key_id, label, sealed) VALUES (${keyId}, ${label}, ${Buffer.from(sealed)})`);
  for (const { tenantId } of await createAuditStore(database).listHeads())
    for (const ended of [inventedKey, earlierKey]) {
      const end = sealKeyEnd(keys, { tenantId, endedKeyId: idOf(ended), number: 10n ** 15n });
      await database.query(sql`
        INSERT INTO audit_key_ends (tenant_id, ended_key_id, number, key_id, mac)
        VALUES (${tenantId}, ${end.endedKeyId}, ${end.number.toString()}, ${end.keyId}, ${Buffer.from(end.mac)})`);
    }
  return idOf(inventedKey);
}
