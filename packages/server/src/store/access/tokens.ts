import { typeIdFromUuid } from "@bursar/domain";
import type { NonceStore } from "../../app/access/authenticate-client.js";
import type { RevocationStore, StoredTokenKey, TokenKeyStore } from "../../app/access/tokens.js";
import { nilTenantId } from "../../app/audit/audit-entry.js";
import type { Database } from "../core/database.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { sql } from "../core/sql.js";
import { appendAudit } from "./audit.js";
import { insertStop, wasEverStopped } from "./stops/stop-records.js";

export function createRevocationStore(database: Database): RevocationStore {
  return {
    revokeToken: async ({ tenantId, id }, tokenId, expiresAt) => {
      const inserted = await database.query(sql`
        INSERT INTO revoked_tokens (tenant_id, client_id, token_id, expires_at)
        VALUES (${tenantId}, ${id}, ${tokenId}, ${expiresAt})
        ON CONFLICT DO NOTHING RETURNING token_id
      `);
      return inserted.length === 1;
    },
    // Served by the primary key. Expired ones are not left out here: if the database's clock was set ahead, a token that processes still
    // accept would be valid again.
    listRevokedTokens: async ({ tenantId, id }) => {
      const rows = await database.query<{ token_id: string }>(sql`
        SELECT token_id FROM revoked_tokens WHERE tenant_id = ${tenantId} AND client_id = ${id}
      `);
      return rows.map((row) => row.token_id);
    },
  };
}

export function createNonceStore(database: Database): NonceStore {
  return {
    useNonce: async ({ tenantId, id }, nonce, expiresAt) => {
      const inserted = await database.query(sql`
        INSERT INTO used_nonces (tenant_id, client_id, nonce, expires_at)
        VALUES (${tenantId}, ${id}, ${nonce}, ${expiresAt})
        ON CONFLICT DO NOTHING RETURNING nonce
      `);
      return inserted.length === 1;
    },
  };
}

export function createTokenKeyStore(database: Database): TokenKeyStore {
  return {
    listTokenKeys: async () =>
      await database.query<StoredTokenKey>(sql`
        SELECT id, public_key AS "publicKey", private_key AS "privateKey", active_from AS "activeFrom"
        FROM token_keys ORDER BY active_from
      `),
    // Served by audit_entries_ends and the primary key of stop_records.
    listRevoked: async (ids) => {
      const shown = ids.map((id) => typeIdFromUuid("key", id));
      const rows = await database.query<{ id: string }>(sql`
        SELECT id FROM unnest(${[...ids]}::uuid[], ${shown}::text[]) AS key (id, shown)
        WHERE ${wasEverStopped(sql`${nilTenantId}::uuid`, sql`key.id`)} OR (
          SELECT true FROM audit_entries
          WHERE tenant_id = ${nilTenantId} AND action = 'keys.revoke' AND object = key.shown LIMIT 1)
      `);
      return rows.map(({ id }) => id);
    },
    addFirstTokenKey: async (key) => {
      await database.transaction(async (tx) => {
        // Processes that start at the same time must not each create a first key.
        await tx.query(sql`LOCK TABLE token_keys IN SHARE ROW EXCLUSIVE MODE`);
        await tx.query(sql`
          INSERT INTO token_keys (id, public_key, private_key, active_from)
          SELECT ${key.id}::uuid, ${Buffer.from(key.publicKey)}::bytea, ${Buffer.from(key.privateKey)}::bytea, ${key.activeFrom}::timestamptz
          WHERE NOT EXISTS (SELECT FROM token_keys)
        `);
      });
    },
    changeTokenKeys: async ({ added, removed }, audit) => {
      await database.transaction(async (tx) => {
        if (added !== undefined)
          tx.send(sql`
            INSERT INTO token_keys (id, public_key, private_key, active_from)
            VALUES (${added.id}, ${Buffer.from(added.publicKey)}, ${Buffer.from(added.privateKey)}, ${added.activeFrom})
          `);
        if (removed.length > 0) tx.send(sql`DELETE FROM token_keys WHERE id = ANY(${[...removed]})`);
        for (const id of removed) tx.send(insertStop({ tenantId: nilTenantId, subjectId: id }));
        if (audit !== undefined) await appendAudit(tx, [audit]);
      });
    },
  };
}

/** Removes expired credentials, a minute late to allow for clocks that differ. Served by the indexes on expires_at. */
export async function removeExpiredCredentials(database: Database): Promise<void> {
  const hasExpired = sql`r.expires_at < now() - interval '1 minute' ORDER BY r.expires_at`;
  for (const table of [
    sql`revoked_tokens`,
    sql`used_nonces`,
    sql`client_secrets`,
    sql`client_keys`,
    sql`sessions`,
  ])
    await removeInBatches(database, table, hasExpired);
}
