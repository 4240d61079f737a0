import type { NonceStore } from "../../app/access/authenticate-client.js";
import type { RevocationStore } from "../../app/access/tokens.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

export function createRevocationStore(database: Database): RevocationStore {
  return {
    revokeToken: async ({ tenantId, id }, tokenId, expiresAt) => {
      await database.query(sql`
        INSERT INTO revoked_tokens (tenant_id, client_id, token_id, expires_at)
        VALUES (${tenantId}, ${id}, ${tokenId}, ${expiresAt})
        ON CONFLICT DO NOTHING
      `);
    },
    // Served by the primary key.
    listRevokedTokens: async ({ tenantId, id }) => {
      const rows = await database.query<{ token_id: string }>(sql`
        SELECT token_id FROM revoked_tokens WHERE tenant_id = ${tenantId} AND client_id = ${id} AND expires_at > now()
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

/** Removes what could not be used any more anyway. A minute late, for clocks that differ. Served by the indexes on expires_at. */
export async function removeExpiredCredentials(database: Database): Promise<void> {
  await database.query(sql`DELETE FROM revoked_tokens WHERE expires_at < now() - interval '1 minute'`);
  await database.query(sql`DELETE FROM used_nonces WHERE expires_at < now() - interval '1 minute'`);
  await database.query(sql`DELETE FROM client_secrets WHERE expires_at < now() - interval '1 minute'`);
}
