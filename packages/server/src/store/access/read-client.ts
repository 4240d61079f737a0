import type { ApiClient, ClientKey } from "../../app/clients/client.js";
import { readClientQuotas } from "../../app/quotas/client-quotas.js";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

export interface ClientRow extends Omit<ApiClient, "secrets" | "keys" | "quotas"> {
  quotas: Parameters<typeof readClientQuotas>[0];
  secrets: {
    id: string;
    hash: string;
    added_by: string | null;
    created_at: string;
    expires_at: string | null;
  }[];
  keys: {
    id: string;
    algorithm: ClientKey["algorithm"];
    material: string;
    added_by: string | null;
    created_at: string;
  }[];
}

/** Served by the primary key, as are the secrets and keys by their indexes on client_id. */
export async function findClientOfTenant(
  source: Queryable,
  tenantId: string,
  id: string,
): Promise<ApiClient | undefined> {
  const [row] = await source.query<ClientRow>(sql`
    ${selectClients} WHERE clients.tenant_id = ${tenantId} AND clients.id = ${id}
  `);
  return row && readClient(row);
}

/** Clients with their unexpired secrets and their keys, in one round trip. */
export const selectClients = sql`
    SELECT clients.id, tenant_id AS "tenantId", name, scopes, state, require_signature AS "requireSignature", quotas,
      created_by AS "createdBy", authority_changed_by AS "authorityChangedBy", authority_changed_at AS "authorityChangedAt",
      clients.created_at AS "createdAt", updated_at AS "updatedAt", disabled_at AS "disabledAt",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'hash', encode(hash, 'hex'),
          'added_by', added_by, 'created_at', created_at, 'expires_at', expires_at) ORDER BY id), '[]')
        FROM client_secrets WHERE client_id = clients.id AND (expires_at IS NULL OR expires_at > now())) AS secrets,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'algorithm', algorithm,
          'material', encode(material, 'hex'), 'added_by', added_by, 'created_at', created_at) ORDER BY id), '[]')
        FROM client_keys WHERE client_id = clients.id) AS keys
    FROM clients
  `;

export function readClient(row: ClientRow): ApiClient {
  return {
    ...row,
    quotas: readClientQuotas(row.quotas),
    secrets: row.secrets.map(({ id, hash, added_by, created_at, expires_at }) => ({
      id,
      hash: Buffer.from(hash, "hex"),
      addedBy: added_by,
      createdAt: new Date(created_at),
      expiresAt: expires_at === null ? null : new Date(expires_at),
    })),
    keys: row.keys.map(({ id, algorithm, material, added_by, created_at }) => ({
      id,
      algorithm,
      material: Buffer.from(material, "hex"),
      addedBy: added_by,
      createdAt: new Date(created_at),
    })),
  };
}
