import { typeIdFromUuid } from "@bursar/domain";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { nameChange } from "../../app/audit/name-change.js";
import type {
  ApiClient,
  AuthorityChange,
  CallerReview,
  ClientChange,
  ClientFacts,
  ClientSecret,
  DecideClientChange,
  EarlierChange,
  KeyedChange,
} from "../../app/clients/client.js";
import { showClientQuotas } from "../../app/quotas/client-quotas.js";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import type { Queryable, Tx } from "../core/database.js";
import { findByKey } from "../core/rows/insert-or-find.js";
import { sql } from "../core/sql.js";
import { changeOf, writeSeal } from "./client-integrity.js";
import { refuseRaise } from "./lineage/refuse-raise.js";
import { passOnControllers } from "./pass-on-controllers.js";
import { isPasskeyOfOther } from "./people/other-passkey.js";
import { hasOtherPerson, writeFormerAccounts } from "./people/other-person.js";
import { recordPerson } from "./people/person-records.js";
import { refuseLostRole } from "./people/roles.js";
import { endProviderSessions } from "./people/sessions.js";
import { findClientOfTenant } from "./read-client.js";
import { lockClients, reviewCaller } from "./review-caller.js";
import {
  readSingleAdministrator,
  type SingleAdministratorColumns,
  selectSingleAdministrator,
} from "./single-administrator.js";
import { findOperatorStop } from "./stops/operator-stops.js";
import { insertStop, isStopped, recordStop } from "./stops/stop-records.js";
import { queueSweepsOfChange } from "./sweeps.js";

interface ChangedClient {
  tenantId: string;
  id: string;
  /** The OpenID provider that people log in with; undefined if none is configured. */
  providerIssuer?: string | undefined;
}

/**
 * Locks a client and writes what `decide` returns, in a SQL transaction that may do more. One that locks other rows afterwards collects
 * the audit entry in `record` and appends it at its end.
 */
export async function changeClient(
  tx: Tx,
  { tenantId, id, providerIssuer }: ChangedClient,
  decide: DecideClientChange,
  { audit, record }: { audit: AuditDraft; record: (audit: AuditDraft) => Promise<void> | void },
  keyed?: KeyedChange,
  caller?: CallerReview,
): Promise<ApiClient | Refused | undefined> {
  if (caller?.clientId === id) lockAdministration(tx, tenantId);
  lockClients(tx, tenantId, id, caller?.clientId);
  const revoked = await reviewCaller(tx, tenantId, caller);
  if (revoked !== undefined) return revoked;
  const client = await findClientOfTenant(tx, tenantId, id);
  if (client === undefined) return undefined;
  if (client.isTampered === true) return { refused: "CLIENT_TAMPERED" };
  const earlier = keyed && (await findEarlierChange(tx, tenantId, keyed));
  const subject = { tenantId, subjectId: id };
  const stop = client.state === "disabled" ? await findOperatorStop(tx, subject) : undefined;
  const facts = {
    ...(await readClientFacts(tx, client, providerIssuer)),
    isStoppedByOperator: stop?.isByOperator === true,
  };
  const change = decide(client, facts, earlier);
  if (isRefused(change)) return change;
  if (change === "nothing") return client;
  const { person = null, scopes = client.scopes } = change.set ?? {};
  const lost = person && (await refuseLostRole(tx, tenantId, { role: person.role, scopes }));
  if (lost != null) return lost;
  // Neither for the operator, nor for what another client has approved.
  const isAlone = caller !== undefined && !facts.isSingleAdministrator;
  const raised = isAlone ? await refuseRaise(tx, client, change.set ?? {}, caller?.onClientsRead) : undefined;
  if (raised !== undefined) return raised;
  // The address and the account were free before the client was locked. Another person can have got them in the meantime.
  if (person !== null && (await hasOtherPerson(tx, { tenantId, id, person })))
    return { refused: "PERSON_EXISTS" };
  // A change of another client can have taken the key in the meantime, because only this client's row is locked.
  if (keyed !== undefined && !(await takeKey(tx, client, keyed, audit.occurredAt)))
    return { refused: "IDEMPOTENCY_KEY_REUSED" };
  if (change.addKey !== undefined && (await isPasskeyOfOther(tx, client, change.addKey)))
    return { refused: "PASSKEY_IN_USE" };
  if (change.authority?.controllers === "reset") await passOnControllers(tx, client);
  const changed = changeOf(client, change, audit.occurredAt);
  applyChange(tx, changed, change, audit.occurredAt);
  writeSeal(tx, changed);
  if (person !== null) recordPerson(tx, changed);
  const state = change.set?.state ?? client.state;
  const byOperator = change.authority?.by === null;
  const cancelsPayments = change.cancel?.includes("transactions") === true;
  if (state !== client.state)
    await recordStop(tx, subject, state === "disabled", audit.occurredAt, {
      ...{ byOperator, cancelsPayments, known: stop?.nextNumber },
    });
  // Of one that is disabled already, the operator's stop is recorded too, and that its payments are cancelled.
  else if (state === "disabled" && ((byOperator && change.set?.state === "disabled") || cancelsPayments))
    tx.send(insertStop(subject, { byOperator, cancelsPayments }));
  queueSweepsOfChange(tx, client, change, audit);
  if (client.person !== null && change.authority !== undefined)
    await endProviderSessions(tx, { tenantId, clientId: id }, audit.occurredAt);
  await record(withNames(audit, client, changed));
  return await findClientOfTenant(tx, tenantId, id);
}

/** The entry with what was set. Whatever begins a change, it is written here. */
export function withNames(audit: AuditDraft, before: ApiClient | undefined, after: ApiClient): AuditDraft {
  const named = nameChange(before, after);
  if (named.length === 0) return audit;
  return { ...audit, objects: [...(audit.objects ?? [typeIdFromUuid("cli", after.id)]), ...named] };
}

/**
 * Of two administrators who disable themselves at the same time, the second waits, and sees that the first is gone. Locked before any client.
 * Not the row of the tenant: a reset locks that after the clients.
 */
function lockAdministration(tx: Tx, tenantId: string): void {
  tx.send(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`administrators of ${tenantId}`}, 0))`);
}

/**
 * Somebody else who can log in and invite people. An invitation that was not used can have expired, an account of a provider
 * that is not configured opens nothing, and a record can stop somebody whose row
 * says otherwise. Served by people_by_tenant, client_keys_by_client and the primary key of stop_records.
 */
function selectOtherAdministrator({ id }: ApiClient, providerIssuer = "") {
  const hasKey = sql`EXISTS (
    SELECT FROM client_keys k WHERE k.client_id = c.id AND (k.expires_at IS NULL OR k.expires_at > now()))`;
  return sql`EXISTS (
    SELECT FROM clients c WHERE c.tenant_id = t.id AND c.id <> ${id} AND c.email IS NOT NULL AND c.state = 'active'
      AND c.scopes @> ARRAY['clients:manage'] AND (c.oidc_issuer = ${providerIssuer} OR ${hasKey})
      AND NOT ${isStopped(sql`c.tenant_id`, sql`c.id`)})`;
}

/**
 * A policy names a client if the client's id occurs anywhere in the document, whatever the field. A client that an earlier version named
 * counts too. Served by the primary keys of tenants, policies and named_clients.
 */
async function readClientFacts(
  tx: Tx,
  client: ApiClient,
  providerIssuer: string | undefined,
): Promise<Omit<ClientFacts, "isStoppedByOperator">> {
  const { tenantId, id } = client;
  const [row] = await tx.query<ClientFacts & SingleAdministratorColumns>(sql`
    SELECT ${selectSingleAdministrator}, coalesce(position(${typeIdFromUuid("cli", id)} IN (
        SELECT document::text FROM policies WHERE tenant_id = ${tenantId} ORDER BY version DESC LIMIT 1)) > 0, false)
      OR EXISTS (SELECT FROM named_clients WHERE client_id = ${id}) AS "isNamedByPolicy",
      ${client.person === null ? sql`true` : selectOtherAdministrator(client, providerIssuer)} AS "hasOtherAdministrator"
    FROM tenants t WHERE t.id = ${tenantId}
  `);
  if (row === undefined) throw new Error("the tenant of a client does not exist");
  return {
    isNamedByPolicy: row.isNamedByPolicy,
    isSingleAdministrator: readSingleAdministrator(tx, row),
    hasOtherAdministrator: row.hasOtherAdministrator,
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

/** Writes the client as the change leaves it. */
function applyChange(
  tx: Tx,
  client: ApiClient,
  {
    addSecret,
    expireSecrets,
    removeSecretIds = [],
    addKey,
    removeKeyIds = [],
    setKeyMaterial,
    authority,
  }: ClientChange,
  now: Date,
): void {
  const { name, scopes, state, requireSignature, person, quotas, disabledAt, formerKeys } = client;
  tx.send(sql`
    UPDATE clients SET name = ${name}, scopes = ${[...scopes]}, state = ${state},
      require_signature = ${requireSignature}, quotas = ${JSON.stringify(showClientQuotas(quotas))}, updated_at = ${now},
      disabled_at = ${disabledAt}, role = ${person?.role ?? null}, role_created_by = ${person?.roleCreatedBy ?? null},
      link_by = ${person?.linkBy ?? null},
      email = ${person?.email ?? null}, oidc_issuer = ${person?.account?.issuer ?? null}, oidc_subject = ${person?.account?.subject ?? null},
      former_accounts = ${writeFormerAccounts(person)}, former_keys = ${formerKeys == null ? null : JSON.stringify(formerKeys)}
    WHERE id = ${client.id}
  `);
  if (authority !== undefined) writeAuthority(tx, client.id, authority, now);
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
  if (setKeyMaterial !== undefined) {
    const { id, material } = setKeyMaterial;
    tx.send(
      sql`UPDATE client_keys SET material = ${Buffer.from(material)} WHERE client_id = ${client.id} AND id = ${id}`,
    );
  }
  if (addKey !== undefined) {
    tx.send(sql`
      INSERT INTO client_keys (id, client_id, algorithm, material, added_by, created_at, expires_at)
      VALUES (${addKey.id}, ${client.id}, ${addKey.algorithm}, ${Buffer.from(addKey.material)}, ${addKey.addedBy},
        ${addKey.createdAt}, ${addKey.expiresAt})
    `);
  }
}

/** The controllers only grow, in the order in which they came, except by a reset. Served by the primary key. */
function writeAuthority(tx: Tx, clientId: string, { by, controllers }: AuthorityChange, now: Date): void {
  const next = {
    added: sql`CASE WHEN ${by}::uuid = ANY (controllers) THEN controllers ELSE controllers || ${by}::uuid END`,
    unchanged: sql`controllers`,
    reset: sql`'{}'`,
  };
  tx.send(sql`
    UPDATE clients SET authority_changed_by = ${by}, authority_changed_at = ${now}, controllers = ${next[controllers]},
      reset_at = ${controllers === "reset" ? sql`${now}` : sql`reset_at`}
    WHERE id = ${clientId}
  `);
}

export function insertSecret(tx: Tx, clientId: string, secret: ClientSecret): void {
  tx.send(sql`
    INSERT INTO client_secrets (id, client_id, hash, key_id, added_by, created_at, expires_at)
    VALUES (${secret.id}, ${clientId}, ${Buffer.from(secret.hash)}, ${secret.keyId}, ${secret.addedBy}, ${secret.createdAt},
      ${secret.expiresAt})
  `);
}
