import type { ApiClient, ClientKey } from "../../app/clients/client.js";
import { readClientQuotas } from "../../app/quotas/client-quotas.js";
import { type KeyedQueryable, requireKeys } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { disableTampered, isClientAuthentic, type StoredSeal } from "./client-integrity.js";
import { lastStop, lastStopAt, readStanding } from "./stops/stop-records.js";

export type ClientRow = RowWithoutStop & StopColumns;

export interface RowWithoutStop extends Omit<ApiClient, "secrets" | "keys" | "quotas"> {
  quotas: Parameters<typeof readClientQuotas>[0];
  secrets: (CredentialFacts & { id: string; hash: string; key_id: string | null })[];
  keys: (CredentialFacts & { id: string; algorithm: ClientKey["algorithm"]; material: string })[];
  seal: StoredSeal;
  /** Not that of the SQL transaction, since whose beginning a credential can have expired and been removed. */
  readAt: Date;
}

interface StopColumns {
  /** As `readStanding` reads it. */
  lastStop: string | null;
  /** When that was recorded. */
  lastStopAt: Date | null;
}

interface CredentialFacts {
  added_by: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

/** Served by the primary key, as are the secrets and keys by their indexes on client_id. */
export async function findClientOfTenant(
  source: KeyedQueryable,
  tenantId: string,
  id: string,
): Promise<ApiClient | undefined> {
  const [row] = await source.query<ClientRow>(sql`
    ${selectClients} WHERE clients.tenant_id = ${tenantId} AND clients.id = ${id}
  `);
  return row && readClient(source, row);
}

const clientColumns = sql`clients.id, tenant_id AS "tenantId", name, scopes, state, require_signature AS "requireSignature", quotas,
      CASE WHEN email IS NOT NULL THEN jsonb_strip_nulls(jsonb_build_object('email', email, 'role', role,
        'roleCreatedBy', role_created_by, 'linkBy', link_by, 'account', CASE WHEN oidc_subject IS NOT NULL THEN
          jsonb_build_object('issuer', oidc_issuer, 'subject', oidc_subject) END, 'formerAccounts', former_accounts)) END AS person,
      created_by AS "createdBy", authority_changed_by AS "authorityChangedBy", authority_changed_at AS "authorityChangedAt",
      controllers, reset_at AS "resetAt", former_keys AS "formerKeys",
      jsonb_build_object('credentials', credentials, 'keyId', key_id, 'mac', encode(mac, 'hex')) AS seal,
      clients.created_at AS "createdAt", updated_at AS "updatedAt", disabled_at AS "disabledAt"`;

const credentialColumns = sql`
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'hash', encode(hash, 'hex'), 'key_id', key_id,
          'added_by', added_by, 'created_at', created_at, 'expires_at', expires_at, 'last_used_at', last_used_at)
          ORDER BY id), '[]')
        FROM client_secrets WHERE client_id = clients.id AND (expires_at IS NULL OR expires_at > now())) AS secrets,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'algorithm', algorithm,
          'material', encode(material, 'hex'), 'added_by', added_by, 'created_at', created_at, 'expires_at', expires_at,
          'last_used_at', last_used_at) ORDER BY id), '[]')
        FROM client_keys WHERE client_id = clients.id AND (expires_at IS NULL OR expires_at > now())) AS keys,
      clock_timestamp() AS "readAt"`;

/** Clients with their unexpired secrets, their keys and the last record of a stop, in one round trip. */
export const selectClients = sql`
    SELECT ${clientColumns}, ${credentialColumns},
      ${lastStop(sql`clients.tenant_id`, sql`clients.id`)} AS "lastStop",
      ${lastStopAt(sql`clients.tenant_id`, sql`clients.id`)} AS "lastStopAt"
    FROM clients
  `;

/** The digest of a client's row, with everything that its MAC covers. */
export const digestOfClientRow = (row: Statement) =>
  sql`encode(sha256(convert_to(${row}::text, 'UTF8')), 'hex')`;

/** Clients with their credentials and the digests of their rows; their stops are not read. */
export const selectClientRows = sql`
    SELECT ${clientColumns}, ${credentialColumns}, ${digestOfClientRow(sql`clients`)} AS digest FROM clients
  `;

/**
 * A client that somebody other than the service has written to is disabled. So is one whose row says that it is active, if it was recorded
 * that it is not: its row was put back, or the record that it was enabled again is forged. Tokens from before the last record do not count,
 * whatever the row says: it may not have been written, or was put back.
 */
export function readClient(source: KeyedQueryable, row: ClientRow): ApiClient {
  const client = readUnchecked(row);
  const keys = requireKeys(source);
  if (!isClientAuthentic(keys, client, row.seal, row.readAt)) return disableTampered(client);
  if (row.lastStop === null) return client;
  const standing = readStanding(keys, { tenantId: client.tenantId, subjectId: client.id }, row.lastStop);
  const disabledAt = laterOf(client.disabledAt, row.lastStopAt);
  return standing === "free" ? { ...client, disabledAt } : { ...client, disabledAt, state: "disabled" };
}

function laterOf(one: Date | null, other: Date | null): Date | null {
  return one !== null && (other === null || one > other) ? one : other;
}

export function readUnchecked(stored: RowWithoutStop & Partial<StopColumns>): ApiClient {
  const { seal: _, lastStop: __, lastStopAt: ___, readAt: ____, ...row } = stored;
  return {
    ...row,
    quotas: readClientQuotas(row.quotas),
    secrets: row.secrets.map(({ id, hash, key_id, ...facts }) => ({
      id,
      hash: Buffer.from(hash, "hex"),
      keyId: key_id ?? "",
      ...readFacts(facts),
    })),
    keys: row.keys.map(({ id, algorithm, material, ...facts }) => ({
      id,
      algorithm,
      material: Buffer.from(material, "hex"),
      ...readFacts(facts),
    })),
  };
}

function readFacts({ added_by, created_at, expires_at, last_used_at }: CredentialFacts) {
  return {
    addedBy: added_by,
    createdAt: new Date(created_at),
    expiresAt: expires_at === null ? null : new Date(expires_at),
    lastUsedAt: last_used_at === null ? null : new Date(last_used_at),
  };
}
