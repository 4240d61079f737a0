import { typeIdFromUuid } from "@bursar/domain";
import { requireKey } from "../../app/access/integrity-keys.js";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { ApiClient } from "../../app/clients/client.js";
import { keyDigest } from "../../app/clients/client-secret.js";
import { unknownKeys } from "../../app/clients/former-keys.js";
import { withoutAccount } from "../../app/people/provider-account.js";
import {
  type Database,
  type KeyedQueryable,
  type Queryable,
  requireKeys,
  type Tx,
} from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit } from "./audit.js";
import { writeSeal } from "./client-integrity.js";
import { lockAllClients, passOnUnknown } from "./pass-on-controllers.js";
import { writeFormerAccounts } from "./people/other-person.js";
import { type ClientRow, readClient, readUnchecked, selectClients } from "./read-client.js";
import { recordStop } from "./stops/stop-records.js";

const pageSize = 500;

/**
 * Authenticates the clients that an earlier version has stored, and keys the hashes of their secrets. Called once for each database,
 * because later a client without a MAC was not written by the service.
 */
export async function authenticateClients(tx: Tx): Promise<void> {
  const keys = requireKeys(tx);
  const key = requireKey(keys, "client secret");
  await forEachClient(tx, (row) => {
    const client = readUnchecked(row);
    const secrets = client.secrets.map((secret) => ({
      ...secret,
      hash: keyDigest(key, secret.hash),
      keyId: keys.currentId,
    }));
    for (const { id, hash, keyId } of secrets)
      tx.send(sql`UPDATE client_secrets SET hash = ${Buffer.from(hash)}, key_id = ${keyId} WHERE id = ${id}`);
    writeSeal(tx, { ...client, secrets });
  });
}

/** The ids of the clients whose rows or credentials were changed or removed in the database, of all tenants. */
export async function listTamperedClients(source: KeyedQueryable): Promise<string[]> {
  const tampered: string[] = [];
  await forEachClient(source, (row) => {
    if (readClient(source, row).isTampered === true) tampered.push(row.id);
  });
  return tampered;
}

/**
 * Makes a client that was tampered with usable again: without credentials, disabled, and with these scopes. Nothing else of its row gives
 * it authority. Other clients of its tenant that were tampered with are restored with it, without scopes. Undefined if there is no such
 * client.
 */
export async function restoreClient(
  database: Database,
  id: string,
  scopes: ApiClient["scopes"],
  audit: AuditDraft,
): Promise<ApiClient | undefined> {
  return await database.transaction(async (tx) => {
    const row = await lockWithTenant(tx, id);
    if (row === undefined) return undefined;
    const others = await passOnUnknown(tx, readUnchecked(row));
    const restored = await restore(tx, row, scopes, audit.occurredAt);
    const audits = [audit];
    for (const other of others) {
      const [found] = await tx.query<ClientRow>(sql`${selectClients} WHERE clients.id = ${other}`);
      if (found === undefined) continue;
      await restore(tx, found, [], audit.occurredAt);
      audits.push({ ...audit, object: typeIdFromUuid("cli", other) });
    }
    await appendAudit(tx, audits);
    return restored;
  });
}

async function restore(tx: Tx, row: ClientRow, scopes: ApiClient["scopes"], now: Date): Promise<ApiClient> {
  const { person, ...facts } = readUnchecked(row);
  const client: ApiClient = {
    ...facts,
    // The provider's account in the row could be anybody's. It opens nothing, but is not another person either.
    person: person && withoutAccount(person),
    scopes,
    state: "disabled",
    secrets: [],
    keys: [],
    formerKeys: unknownKeys(now),
    authorityChangedBy: null,
    authorityChangedAt: now,
    controllers: [],
    resetAt: now,
    updatedAt: now,
    disabledAt: now,
  };
  tx.send(sql`DELETE FROM client_secrets WHERE client_id = ${client.id}`);
  tx.send(sql`DELETE FROM client_keys WHERE client_id = ${client.id}`);
  tx.send(sql`
    UPDATE clients SET scopes = ${[...scopes]}, state = 'disabled', authority_changed_by = NULL,
      authority_changed_at = ${now}, controllers = '{}', reset_at = ${now}, updated_at = ${now}, disabled_at = ${now},
      oidc_issuer = NULL, oidc_subject = NULL, former_accounts = ${writeFormerAccounts(client.person)},
      former_keys = ${JSON.stringify(client.formerKeys)}
    WHERE id = ${client.id}
  `);
  writeSeal(tx, client);
  await recordStop(tx, { tenantId: client.tenantId, subjectId: client.id }, true, now, { byOperator: true });
  return client;
}

/** Served by the primary key. */
async function lockWithTenant(tx: Tx, id: string): Promise<ClientRow | undefined> {
  const [found] = await tx.query<{ tenantId: string }>(
    sql`SELECT tenant_id AS "tenantId" FROM clients WHERE id = ${id}`,
  );
  if (found === undefined) return undefined;
  lockAllClients(tx, found.tenantId);
  const [row] = await tx.query<ClientRow>(sql`${selectClients} WHERE clients.id = ${id}`);
  return row;
}

/** Served by the primary key. */
async function forEachClient(source: Queryable, visit: (row: ClientRow) => void): Promise<void> {
  for (let page: ClientRow[] = [], after = "00000000-0000-0000-0000-000000000000"; ; ) {
    page = await source.query<ClientRow>(sql`
      ${selectClients} WHERE clients.id > ${after} ORDER BY clients.id LIMIT ${pageSize}
    `);
    for (const row of page) visit(row);
    if (page.length < pageSize) return;
    after = page.at(-1)?.id ?? after;
  }
}
