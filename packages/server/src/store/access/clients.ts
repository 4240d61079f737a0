import type {
  ApiClient,
  ClientChange,
  ClientKey,
  ClientSecret,
  ClientStore,
  EarlierChange,
  KeyedChange,
} from "../../app/clients/client.js";
import type { Tenant, TenantStore } from "../../app/clients/create-tenant.js";
import { readClientQuotas, showClientQuotas } from "../../app/quotas/client-quotas.js";
import type { Earlier, IdempotentRequest } from "../../app/requests/idempotency.js";
import { isRefused } from "../../app/requests/refused.js";
import { type Database, isLockTimeout, type Queryable, type Tx } from "../core/database.js";
import { findByKey, insertOrFind } from "../core/insert-or-find.js";
import { sql } from "../core/sql.js";
import { insertWallet } from "../wallets/wallets.js";
import { appendAudit } from "./audit.js";

interface ClientRow extends Omit<ApiClient, "secrets" | "keys" | "quotas"> {
  quotas: Parameters<typeof readClientQuotas>[0];
  secrets: { id: string; hash: string; created_at: string; expires_at: string | null }[];
  keys: { id: string; algorithm: ClientKey["algorithm"]; material: string; created_at: string }[];
}

export function createTenantStore(database: Database): TenantStore {
  return {
    createTenant: async ({ id, name, createdAt }, wallets, audit) => {
      await database.transaction(async (tx) => {
        await tx.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`);
        for (const wallet of wallets) await insertWallet(tx, wallet);
        await appendAudit(tx, [audit]);
      });
    },
    listTenants: () =>
      database.query<Tenant>(sql`SELECT id, name, created_at AS "createdAt" FROM tenants ORDER BY id`),
  };
}

export function createClientStore(database: Database): ClientStore {
  return {
    // Served by the primary key, as are the secrets and keys by their indexes on client_id.
    findClient: async (id) => {
      const [row] = await database.query<ClientRow>(sql`${selectClients} WHERE clients.id = ${id}`);
      return row && readClient(row);
    },
    findClientOfTenant: (tenantId, id) => findClientOfTenant(database, tenantId, id),
    // Served by clients_by_tenant.
    listClients: async (tenantId, limit, beforeId) => {
      const rows = await database.query<ClientRow>(sql`
        ${selectClients}
        WHERE clients.tenant_id = ${tenantId} ${beforeId === undefined ? sql`` : sql`AND clients.id < ${beforeId}`}
        ORDER BY clients.id DESC LIMIT ${limit}
      `);
      return rows.map(readClient);
    },
    createClient: async (client, request, audit) =>
      await database.transaction(async (tx) => {
        const earlier = await insertOrFind(
          () => insertClient(tx, client, request),
          () => findEarlier(tx, client.tenantId, request?.key),
        );
        if (earlier !== undefined) return earlier;
        for (const secret of client.secrets) insertSecret(tx, client.id, secret);
        await appendAudit(tx, [audit]);
        return { created: client };
      }),
    changeClient: async (tenantId, id, decide, audit, keyed) => {
      const changing = database.transaction(async (tx) => {
        tx.send(lockTimeout);
        tx.send(sql`SELECT FROM clients WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`);
        const client = await findClientOfTenant(tx, tenantId, id);
        if (client === undefined) return undefined;
        const earlier = keyed && (await findEarlierChange(tx, tenantId, keyed));
        const change = decide(client, earlier);
        if (isRefused(change)) return change;
        if (change === "nothing") return client;
        // A change of another client can have taken the key in the meantime, because only this client's row is locked.
        if (keyed !== undefined && !(await takeKey(tx, client, keyed, audit.occurredAt)))
          return { refused: "IDEMPOTENCY_KEY_REUSED" } as const;
        applyChange(tx, client, change, audit.occurredAt);
        await appendAudit(tx, [audit]);
        return await findClientOfTenant(tx, tenantId, id);
      });
      return await changing.catch((error: unknown) => {
        if (isLockTimeout(error)) return "locked" as const;
        throw error;
      });
    },
  };
}

/** Served by the primary key. */
async function findEarlierChange(
  source: Queryable,
  tenantId: string,
  { action, key }: KeyedChange,
): Promise<EarlierChange | undefined> {
  const table = {
    columns: sql`object_id AS "objectId"`,
    table: sql`client_requests`,
    scope: sql`AND action = ${action}`,
  };
  const found = await findByKey<{ objectId: string }>(source, table, tenantId, key);
  return found && { hash: found.requestHash, objectId: found.objectId };
}

/** False if another request has taken the key. */
async function takeKey(
  source: Queryable,
  { tenantId, id }: ApiClient,
  { action, key, hash, objectId }: KeyedChange,
  now: Date,
): Promise<boolean> {
  const taken = await source.query(sql`
    INSERT INTO client_requests (tenant_id, action, idempotency_key, request_hash, client_id, object_id, created_at)
    VALUES (${tenantId}, ${action}, ${key}, decode(${hash}, 'hex'), ${id}, ${objectId}, ${now})
    ON CONFLICT DO NOTHING RETURNING object_id
  `);
  return taken.length === 1;
}

/** Longer than another process needs for a change, and shorter than a caller's timeout. */
const lockTimeout = sql`SET LOCAL lock_timeout = '2s'`;

async function findClientOfTenant(
  source: Queryable,
  tenantId: string,
  id: string,
): Promise<ApiClient | undefined> {
  const [row] = await source.query<ClientRow>(sql`
    ${selectClients} WHERE clients.tenant_id = ${tenantId} AND clients.id = ${id}
  `);
  return row && readClient(row);
}

async function insertClient(
  tx: Queryable,
  client: ApiClient,
  request: IdempotentRequest | undefined,
): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO clients
      (id, tenant_id, name, scopes, state, require_signature, idempotency_key, request_hash, created_at, updated_at)
    VALUES
      (${client.id}, ${client.tenantId}, ${client.name}, ${[...client.scopes]}, ${client.state}, ${client.requireSignature},
       ${request?.key ?? null}, decode(${request?.hash ?? null}, 'hex'), ${client.createdAt}, ${client.updatedAt})
    ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
    RETURNING id
  `);
  return inserted.length === 1;
}

async function findEarlier(
  tx: Queryable,
  tenantId: string,
  key: string | undefined,
): Promise<Earlier<ApiClient> | undefined> {
  const table = { columns: sql`id`, table: sql`clients` };
  const found = await findByKey<{ id: string }>(tx, table, tenantId, key);
  const earlier = found && (await findClientOfTenant(tx, tenantId, found.id));
  return earlier && { earlier, requestHash: found.requestHash };
}

function applyChange(
  tx: Tx,
  client: ApiClient,
  { set = {}, addSecret, expireSecrets, removeSecretIds = [], addKey, removeKeyIds = [] }: ClientChange,
  now: Date,
): void {
  const { name, scopes, state, requireSignature, quotas } = { ...client, ...set };
  tx.send(sql`
    UPDATE clients SET name = ${name}, scopes = ${[...scopes]}, state = ${state},
      require_signature = ${requireSignature}, quotas = ${JSON.stringify(showClientQuotas(quotas))}, updated_at = ${now},
      disabled_at = CASE WHEN ${state} = 'disabled' AND state <> 'disabled' THEN ${now}::timestamptz ELSE disabled_at END
    WHERE id = ${client.id}
  `);
  if (removeSecretIds.length > 0) {
    tx.send(
      sql`DELETE FROM client_secrets WHERE client_id = ${client.id} AND id = ANY(${[...removeSecretIds]})`,
    );
  }
  if (expireSecrets !== undefined) {
    tx.send(sql`
      UPDATE client_secrets SET expires_at = ${expireSecrets.at}
      WHERE client_id = ${client.id} AND id = ANY(${[...expireSecrets.ids]})
    `);
  }
  if (addSecret !== undefined) insertSecret(tx, client.id, addSecret);
  if (removeKeyIds.length > 0) {
    tx.send(sql`DELETE FROM client_keys WHERE client_id = ${client.id} AND id = ANY(${[...removeKeyIds]})`);
  }
  if (addKey !== undefined) {
    tx.send(sql`
      INSERT INTO client_keys (id, client_id, algorithm, material, created_at)
      VALUES (${addKey.id}, ${client.id}, ${addKey.algorithm}, ${Buffer.from(addKey.material)}, ${addKey.createdAt})
    `);
  }
}

function insertSecret(tx: Tx, clientId: string, secret: ClientSecret): void {
  tx.send(sql`
    INSERT INTO client_secrets (id, client_id, hash, created_at, expires_at)
    VALUES (${secret.id}, ${clientId}, ${Buffer.from(secret.hash)}, ${secret.createdAt}, ${secret.expiresAt})
  `);
}

/** Clients with their unexpired secrets and their keys, in one round trip. */
const selectClients = sql`
    SELECT clients.id, tenant_id AS "tenantId", name, scopes, state, require_signature AS "requireSignature", quotas,
      clients.created_at AS "createdAt", updated_at AS "updatedAt", disabled_at AS "disabledAt",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'hash', encode(hash, 'hex'),
          'created_at', created_at, 'expires_at', expires_at) ORDER BY id), '[]')
        FROM client_secrets WHERE client_id = clients.id AND (expires_at IS NULL OR expires_at > now())) AS secrets,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'algorithm', algorithm,
          'material', encode(material, 'hex'), 'created_at', created_at) ORDER BY id), '[]')
        FROM client_keys WHERE client_id = clients.id) AS keys
    FROM clients
  `;

function readClient(row: ClientRow): ApiClient {
  return {
    ...row,
    quotas: readClientQuotas(row.quotas),
    secrets: row.secrets.map(({ id, hash, created_at, expires_at }) => ({
      id,
      hash: Buffer.from(hash, "hex"),
      createdAt: new Date(created_at),
      expiresAt: expires_at === null ? null : new Date(expires_at),
    })),
    keys: row.keys.map(({ id, algorithm, material, created_at }) => ({
      id,
      algorithm,
      material: Buffer.from(material, "hex"),
      createdAt: new Date(created_at),
    })),
  };
}
