import type { StoredTokenKey, TokenKeyStore } from "../../app/access/token-key-store.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

export function createTokenKeyStore(database: Database): TokenKeyStore {
  return {
    listTokenKeys: async () =>
      await database.query<StoredTokenKey>(sql`
        SELECT id, public_key AS "publicKey", private_key AS "privateKey", active_from AS "activeFrom"
        FROM token_keys ORDER BY active_from
      `),
    addFirstTokenKey: async (key) => {
      await database.transaction(async (tx) => {
        // Processes that start at once must not each make a first key.
        await tx.query(sql`LOCK TABLE token_keys IN SHARE ROW EXCLUSIVE MODE`);
        await tx.query(sql`
          INSERT INTO token_keys (id, public_key, private_key, active_from)
          SELECT ${key.id}::uuid, ${Buffer.from(key.publicKey)}::bytea, ${Buffer.from(key.privateKey)}::bytea, ${key.activeFrom}::timestamptz
          WHERE NOT EXISTS (SELECT FROM token_keys)
        `);
      });
    },
    addTokenKey: async (key) => {
      await database.query(sql`
        INSERT INTO token_keys (id, public_key, private_key, active_from)
        VALUES (${key.id}, ${Buffer.from(key.publicKey)}, ${Buffer.from(key.privateKey)}, ${key.activeFrom})
      `);
    },
    removeTokenKeys: async (ids) => {
      if (ids.length > 0) await database.query(sql`DELETE FROM token_keys WHERE id = ANY(${[...ids]})`);
    },
  };
}
