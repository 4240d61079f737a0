import { setImmediate as nextTurn } from "node:timers/promises";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { ApiClient, ClientStore } from "../../app/clients/client.js";
import type { Tenant, TenantStore } from "../../app/clients/create-tenant.js";
import type { Earlier, IdempotentRequest } from "../../app/requests/idempotency.js";
import {
  type Database,
  isLockTimeout,
  type KeyedQueryable,
  type Queryable,
  type Tx,
} from "../core/database.js";
import { recordOperatorRequest } from "../core/operator-requests.js";
import { findByKey, insertOrFind } from "../core/rows/insert-or-find.js";
import { sql } from "../core/sql.js";
import { insertWallet } from "../wallets/wallets.js";
import { appendAudit } from "./audit.js";
import { changeClient, insertSecret, withNames } from "./change-client.js";
import { writeSeal } from "./client-integrity.js";
import { lockAllClients } from "./pass-on-controllers.js";
import { hadAccount, hasAccount, hasOtherPerson } from "./people/other-person.js";
import { findRecordedOther, folded, listRecordedAccounts, recordPerson } from "./people/person-records.js";
import { refuseLostRole } from "./people/roles.js";
import { type ClientRow, findClientOfTenant, readClient, selectClients } from "./read-client.js";
import { reviewCaller } from "./review-caller.js";
import {
  readSingleAdministrator,
  type SingleAdministratorColumns,
  selectSingleAdministrator,
  writeSingleAdministrator,
} from "./single-administrator.js";

export function createTenantStore(database: Database): TenantStore {
  return {
    createTenant: ({ tenant: { id, name, createdAt }, wallets, client, audit, request, sealedSecret }) =>
      database.transaction(async (tx) => {
        const result = { tenantId: id, objectId: client.id, sealedSecret };
        const earlier = request && (await recordOperatorRequest(tx, request, result));
        if (earlier !== undefined) return earlier;
        await tx.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`);
        for (const wallet of wallets) await insertWallet(tx, wallet);
        await insertClient(tx, client, undefined);
        writeCredentials(tx, client);
        await appendAudit(tx, audit);
        return undefined;
      }),
    listTenants: async () =>
      (await database.query<TenantRow>(sql`${selectTenants} ORDER BY t.id`)).map((row) =>
        readTenant(database, row),
      ),
    // Served by the primary key.
    findTenant: async (id) => {
      const [row] = await database.query<TenantRow>(sql`${selectTenants} WHERE t.id = ${id}`);
      return row && readTenant(database, row);
    },
    setSingleAdministrator: (id, singleAdministrator, audit) =>
      database.transaction((tx) => writeSingleAdministrator(tx, id, singleAdministrator, audit)),
  };
}

type TenantRow = Pick<Tenant, "name" | "createdAt"> & SingleAdministratorColumns & { isSuspended: boolean };

const selectTenants = sql`
  SELECT ${selectSingleAdministrator}, t.name, t.created_at AS "createdAt", t.suspended_at IS NOT NULL AS "isSuspended"
  FROM tenants t
`;

function readTenant(database: Database, row: TenantRow): Tenant & { isSuspended: boolean } {
  const { tenantId: id, name, createdAt, isSuspended } = row;
  return { id, name, createdAt, isSuspended, singleAdministrator: readSingleAdministrator(database, row) };
}

function recordedBy(tx: Tx, audit: AuditDraft) {
  return { audit, record: (draft: AuditDraft) => appendAudit(tx, [draft]) };
}

/** `providerIssuer` is the OpenID provider that people log in with, if one is configured. */
export function createClientStore(database: Database, providerIssuer?: string): ClientStore {
  return {
    // Served by the primary key, as are the secrets and keys by their indexes on client_id.
    findClient: async (id) => {
      const [row] = await database.query<ClientRow>(sql`${selectClients} WHERE clients.id = ${id}`);
      return row && readClient(database, row);
    },
    findClientOfTenant: (tenantId, id) => findClientOfTenant(database, tenantId, id),
    // Served by clients_by_tenant.
    listClients: async (tenantId, limit, beforeId) => {
      const rows = await database.query<ClientRow>(sql`
        ${selectClients}
        WHERE clients.tenant_id = ${tenantId} ${beforeId === undefined ? sql`` : sql`AND clients.id < ${beforeId}`}
        ORDER BY clients.id DESC LIMIT ${limit}
      `);
      return await readInSlices(database, rows);
    },
    // Served by people_by_tenant.
    listPeople: async (tenantId, limit, beforeId) => {
      const rows = await database.query<ClientRow>(sql`
        ${selectClients}
        WHERE clients.tenant_id = ${tenantId} AND clients.email IS NOT NULL
          ${beforeId === undefined ? sql`` : sql`AND clients.id < ${beforeId}`}
        ORDER BY clients.id DESC LIMIT ${limit}
      `);
      return await readInSlices(database, rows);
    },
    // Served by people_by_email.
    findPerson: async (tenantId, email) => {
      const rows = await database.query<ClientRow>(sql`
        ${selectClients}
        WHERE clients.tenant_id = ${tenantId} AND clients.email IS NOT NULL AND ${folded(sql`clients.email`)} = ${folded(sql`${email}::text`)} LIMIT 1
      `);
      return (await readInSlices(database, rows))[0];
    },
    // Served by people_by_account and people_by_former_account. A tampered row can name an account that somebody else has.
    findPersonOfAccount: async (tenantId, account) => {
      const rows = await database.query<ClientRow>(sql`
        ${selectClients}
        WHERE clients.tenant_id = ${tenantId} AND (${hasAccount(account)} OR ${hadAccount(account)})
        ORDER BY ${hasAccount(account)} IS TRUE DESC, clients.id LIMIT 1
      `);
      return (await readInSlices(database, rows))[0];
    },
    findRecordedOther: (person) => findRecordedOther(database, person),
    listRecordedAccounts: (tenantId, personId) => listRecordedAccounts(database, tenantId, personId),
    createClient: async (client, request, audit, clientsMax, caller) =>
      await database.transaction(async (tx) => {
        lockTenant(tx, client.tenantId);
        const refused = await reviewCaller(tx, client.tenantId, caller);
        if (refused !== undefined) return refused;
        if (await isFull(tx, client.tenantId, clientsMax))
          // A repeated request is answered even if there is no room for another client.
          return (await findEarlier(tx, client.tenantId, request?.key)) ?? "too_many";
        if (await hasOtherPerson(tx, client))
          return (await findEarlier(tx, client.tenantId, request?.key)) ?? { refused: "PERSON_EXISTS" };
        const { person, scopes } = client;
        const lost = person && (await refuseLostRole(tx, client.tenantId, { role: person.role, scopes }));
        if (lost != null) return (await findEarlier(tx, client.tenantId, request?.key)) ?? lost;
        const earlier = await insertOrFind(
          () => insertClient(tx, client, request),
          () => findEarlier(tx, client.tenantId, request?.key),
        );
        if (earlier !== undefined) return earlier;
        writeCredentials(tx, client);
        recordPerson(tx, client);
        await appendAudit(tx, [withNames(audit, undefined, client)]);
        return { created: client };
      }),
    changeClient: (tenantId, id, decide, audit, keyed, caller) =>
      orLocked(
        database.transaction((tx) => {
          tx.send(lockTimeout);
          return changeClient(
            tx,
            { tenantId, id, providerIssuer },
            decide,
            recordedBy(tx, audit),
            keyed,
            caller,
          );
        }),
      ),
    resetClient: (tenantId, id, decide, audit) =>
      orLocked(
        database.transaction((tx) => {
          tx.send(lockTimeout);
          lockAllClients(tx, tenantId);
          return changeClient(tx, { tenantId, id, providerIssuer }, decide, recordedBy(tx, audit));
        }),
      ),
  };
}

async function orLocked<T>(changing: Promise<T>): Promise<T | "locked"> {
  return await changing.catch((error: unknown) => {
    if (isLockTimeout(error)) return "locked" as const;
    throw error;
  });
}

/** Longer than another process needs for a change, and shorter than a caller's timeout. */
const lockTimeout = sql`SET LOCAL lock_timeout = '2s'`;

/** So that two processes do not both find room for the last client. Before any client is locked. Served by the primary key. */
function lockTenant(tx: Tx, tenantId: string): void {
  tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
}

/** Served by clients_by_tenant. */
async function isFull(tx: Queryable, tenantId: string, clientsMax: number): Promise<boolean> {
  const [row] = await tx.query<{ isFull: boolean }>(sql`
    SELECT count(*) >= ${clientsMax} AS "isFull" FROM clients WHERE tenant_id = ${tenantId}
  `);
  return row?.isFull === true;
}

async function insertClient(
  tx: Queryable,
  client: ApiClient,
  request: IdempotentRequest | undefined,
): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO clients
      (id, tenant_id, name, scopes, state, require_signature, email, role, role_created_by, link_by, oidc_issuer, oidc_subject, created_by, authority_changed_by, authority_changed_at,
       controllers, idempotency_key, request_hash, created_at, updated_at)
    VALUES
      (${client.id}, ${client.tenantId}, ${client.name}, ${[...client.scopes]}, ${client.state}, ${client.requireSignature},
       ${client.person?.email ?? null}, ${client.person?.role ?? null}, ${client.person?.roleCreatedBy ?? null},
       ${client.person?.linkBy ?? null},
       ${client.person?.account?.issuer ?? null}, ${client.person?.account?.subject ?? null},
       ${client.createdBy}, ${client.authorityChangedBy}, ${client.authorityChangedAt},
       ${[...client.controllers]}, ${request?.key ?? null},
       decode(${request?.hash ?? null}, 'hex'), ${client.createdAt}, ${client.updatedAt})
    ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
    RETURNING id
  `);
  return inserted.length === 1;
}

function writeCredentials(tx: Tx, client: ApiClient): void {
  for (const secret of client.secrets) insertSecret(tx, client.id, secret);
  writeSeal(tx, client);
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

/** A MAC takes a quarter of a millisecond to verify; 200 in one turn would delay every other request. */
const sliceSize = 16;

async function readInSlices(source: KeyedQueryable, rows: readonly ClientRow[]): Promise<ApiClient[]> {
  const clients: ApiClient[] = [];
  for (let from = 0; from < rows.length; from += sliceSize) {
    if (from > 0) await nextTurn();
    for (const row of rows.slice(from, from + sliceSize)) clients.push(readClient(source, row));
  }
  return clients;
}
