import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { actorIdOfAct } from "../../app/events/actor.js";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import type {
  CreatedEndpoint,
  EndpointChange,
  EndpointStore,
  WebhookEndpoint,
} from "../../app/webhooks/endpoint.js";
import { appendAudit } from "../access/audit.js";
import type { RowMac } from "../access/row-integrity.js";
import {
  type Database,
  type KeyedQueryable,
  type Queryable,
  requireKeys,
  type Tx,
} from "../core/database.js";
import { insertOrFind } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { removeUnreferenced } from "./deleted-endpoints.js";
import { isEndpointAuthentic, macOfEndpoint } from "./endpoint-integrity.js";
import { findAnswer, reserveKey, settleKey } from "./keyed-requests.js";

export interface EndpointRow
  extends Omit<WebhookEndpoint, "secrets" | "authority" | "isTampered" | "isClientDisabled">,
    RowMac {
  clientId: string | null;
  clientState: string | null;
  scopes: string[] | null;
  secret: Buffer;
  oldSecret: Buffer | null;
  oldSecretUntil: Date | null;
}

export function createEndpointStore(database: Database, log: EventLog): EndpointStore {
  return {
    createEndpoint: (endpoint, request, audit, endpointsMax) =>
      database.transaction(async (tx) => {
        const { tenantId } = endpoint;
        const keyed = { tenantId, action: audit.action, request, occurredAt: audit.occurredAt };
        // Before the bound: a repeated request is answered even if there is no room for another endpoint.
        const earlier = await insertOrFind(
          () => reserveKey(tx, keyed),
          () => findAnswer<CreatedAnswer>(tx, keyed),
        );
        if (earlier !== undefined) return { ...earlier, earlier: readAnswer(earlier.earlier) };
        const isFull = await hasAtLeast(tx, tenantId, endpointsMax);
        await settleKey(tx, keyed, isFull ? undefined : answerOf(endpoint));
        if (isFull) return "too_many";
        insertEndpoint(tx, endpoint);
        await appendAudit(tx, [audit]);
        return { created: endpoint };
      }),
    readEndpoint: (tenantId, id) => readEndpoint(database, tenantId, id, sql``),
    // Served by webhook_endpoints_live, read backwards.
    listEndpoints: async (tenantId, limit, beforeId) => {
      const rows = await database.query<EndpointRow>(sql`
        SELECT ${endpointColumns} FROM webhook_endpoints e
        WHERE tenant_id = ${tenantId} AND state <> 'deleted' ${beforeId === undefined ? sql`` : sql`AND id < ${beforeId}`}
        ORDER BY id DESC LIMIT ${limit}
      `);
      return rows.map((row) => toEndpoint(requireKeys(database), row));
    },
    changeEndpoint: (tenantId, id, decide, occurredAt, audit) =>
      database.transaction(async (tx) => {
        const endpoint = await readEndpoint(tx, tenantId, id, sql`FOR UPDATE`);
        if (endpoint === undefined) return undefined;
        const change = decideOn(endpoint, decide);
        return isRefused(change)
          ? change
          : await writeChange(tx, log, { endpoint, change, occurredAt, audit });
      }),
    changeEndpointOnce: (tenantId, id, decide, request, audit) =>
      database.transaction(async (tx) => {
        const endpoint = await readEndpoint(tx, tenantId, id, sql`FOR UPDATE`);
        if (endpoint === undefined) return undefined;
        const { action, occurredAt } = audit;
        const keyed = { tenantId, action, request, occurredAt };
        const earlier = await insertOrFind(
          () => reserveKey(tx, keyed),
          () => findAnswer<object>(tx, keyed),
        );
        if (earlier !== undefined) return { earlier: endpoint, requestHash: earlier.requestHash };
        const change = decideOn(endpoint, decide);
        await settleKey(tx, keyed, isRefused(change) ? undefined : {});
        if (isRefused(change)) return change;
        return { changed: await writeChange(tx, log, { endpoint, change, occurredAt, audit }) };
      }),
  };
}

/** One that was tampered with can only be deleted: any other change would authenticate what somebody else has written. */
function decideOn(
  endpoint: WebhookEndpoint,
  decide: (endpoint: WebhookEndpoint) => EndpointChange | Refused,
): EndpointChange | Refused {
  const change = decide(endpoint);
  if (isRefused(change) || endpoint.isTampered !== true || change.state?.to === "deleted") return change;
  return { refused: "WEBHOOK_ENDPOINT_TAMPERED" };
}

interface DecidedChange {
  endpoint: WebhookEndpoint;
  change: EndpointChange;
  occurredAt: Date;
  audit: AuditDraft | undefined;
}

/** Writes a change of an endpoint that is locked, with its audit entry, and its event if it was disabled. */
async function writeChange(
  tx: Tx,
  log: EventLog,
  { endpoint, change, occurredAt, audit }: DecidedChange,
): Promise<WebhookEndpoint> {
  const { tenantId, id } = endpoint;
  if (Object.keys(change).length === 0) return endpoint;
  const changed = await applyChange(tx, endpoint, change, occurredAt);
  if (audit !== undefined) await appendAudit(tx, [audit]);
  if (change.state !== undefined || change.events !== undefined) changeSubscription(tx, log, endpoint);
  // The log is locked, so no delivery to it is being written. One that deliveries name stays until these are removed.
  if (change.state?.to === "deleted") await removeUnreferenced(tx, tenantId, [id]);
  if (endpoint.state === "enabled" && change.state?.to === "disabled") {
    await log.append(tx, [
      {
        tenantId,
        event: "endpoint.disabled",
        subjectId: id,
        version: changed.version,
        state: "disabled",
        previousState: "enabled",
        failureCode: change.state.reason,
        occurredAt,
        actorId: audit === undefined ? null : actorIdOfAct(audit),
      },
    ]);
  }
  return changed;
}

async function readEndpoint(
  source: KeyedQueryable,
  tenantId: string,
  id: string,
  lock: Statement,
): Promise<WebhookEndpoint | undefined> {
  const [row] = await source.query<EndpointRow>(sql`
    SELECT ${endpointColumns} FROM webhook_endpoints e
    WHERE tenant_id = ${tenantId} AND id = ${id} AND state <> 'deleted' ${lock}
  `);
  return row && toEndpoint(requireKeys(source), row);
}

/** What the answer to the request that created an endpoint said, beside what the request itself did. It outlives the endpoint. */
interface CreatedAnswer {
  id: string;
  client_id: string | null;
  created_by: string | null;
  created_at: string;
}

function answerOf({ id, authority, createdBy, createdAt }: WebhookEndpoint): CreatedAnswer {
  const clientId = authority?.clientId ?? null;
  return { id, client_id: clientId, created_by: createdBy, created_at: createdAt.toISOString() };
}

function readAnswer({ id, client_id, created_by, created_at }: CreatedAnswer): CreatedEndpoint {
  return { id, clientId: client_id, createdBy: created_by, createdAt: new Date(created_at) };
}

/** Two requests at once may both find room for the last one: the bound keeps a tenant from many, not from one more. */
async function hasAtLeast(tx: Queryable, tenantId: string, endpointsMax: number): Promise<boolean> {
  // Served by webhook_endpoints_live.
  const [count] = await tx.query<{ isFull: boolean }>(sql`
    SELECT count(*) >= ${endpointsMax} AS "isFull" FROM webhook_endpoints
    WHERE tenant_id = ${tenantId} AND state <> 'deleted'
  `);
  return count?.isFull === true;
}

/** The lease is made with the endpoint, so that there is always one to take. */
function insertEndpoint(tx: Tx, endpoint: WebhookEndpoint): void {
  const { keyId, mac } = macOfEndpoint(requireKeys(tx), endpoint);
  tx.send(sql`
    WITH created AS (
      INSERT INTO webhook_endpoints
        (tenant_id, id, url, events, description, client_id, scopes, state, secret, version, created_by, created_at, updated_at,
         subscribed_after, key_id, mac)
      VALUES
        (${endpoint.tenantId}, ${endpoint.id}, ${endpoint.url}, ${[...endpoint.events]}, ${endpoint.description},
         ${endpoint.authority?.clientId ?? null}, ${listScopes(endpoint)}, ${endpoint.state}, ${Buffer.from(endpoint.secrets.current)}, ${endpoint.version},
         ${endpoint.createdBy}, ${endpoint.createdAt}, ${endpoint.updatedAt},
         coalesce((SELECT sequence FROM event_sequences WHERE tenant_id = ${endpoint.tenantId}), 0), ${keyId}, ${mac})
      RETURNING tenant_id, id
    )
    INSERT INTO webhook_leases (tenant_id, endpoint_id, fence, expires_at)
    SELECT tenant_id, id, 0, '-infinity' FROM created
  `);
}

async function applyChange(
  tx: Tx,
  endpoint: WebhookEndpoint,
  change: EndpointChange,
  now: Date,
): Promise<WebhookEndpoint> {
  const { url, events, description, secrets, verifiedAt, authority } = { ...endpoint, ...change };
  const isDeleted = change.state?.to === "deleted";
  const kept = isDeleted ? { current: Buffer.alloc(0), old: null } : secrets;
  const [state, version] = [change.state?.to ?? endpoint.state, endpoint.version + 1];
  // Of what was read and the change, not of what the database returns.
  const { keyId, mac } = macOfEndpoint(requireKeys(tx), {
    ...endpoint,
    ...{ url, events, verifiedAt, authority, state, version, secrets: kept },
  });
  const [row] = await tx.query<EndpointRow>(sql`
    UPDATE webhook_endpoints e SET
      url = ${url}, events = ${[...events]}, description = ${description}, ${stateColumns(change, now)}
      secret = ${Buffer.from(kept.current)},
      verified_at = ${verifiedAt}, client_id = ${authority?.clientId ?? null}, scopes = ${listScopes({ authority })},
      old_secret = ${kept.old === null ? null : Buffer.from(kept.old.sealed)}, old_secret_until = ${kept.old?.until ?? null},
      version = ${version}, updated_at = ${now}, key_id = ${keyId}, mac = ${mac}
    WHERE tenant_id = ${endpoint.tenantId} AND id = ${endpoint.id}
    RETURNING ${endpointColumns}
  `);
  if (row === undefined) throw new Error("an endpoint that was locked does not exist");
  return toEndpoint(requireKeys(tx), row);
}

/**
 * The endpoint is subscribed as it is now from the next event on. If deliveries of earlier events are still to be written, they go to it as
 * it was. The log stays locked until the commit, so every event is on one side of the change. Served by primary keys.
 */
function changeSubscription(tx: Tx, log: EventLog, { tenantId, id, state, events }: WebhookEndpoint): void {
  log.lock(tx, [tenantId]);
  tx.send(sql`
    WITH head AS (SELECT sequence FROM event_sequences WHERE tenant_id = ${tenantId}),
    past AS (
      INSERT INTO past_subscriptions (tenant_id, endpoint_id, after_sequence, upto_sequence, events)
      SELECT e.tenant_id, e.id, e.subscribed_after, head.sequence, ${[...events]}::text[]
      FROM head CROSS JOIN webhook_endpoints e
      WHERE e.tenant_id = ${tenantId} AND e.id = ${id} AND ${state === "enabled"}::boolean AND e.subscribed_after < head.sequence
        AND EXISTS (SELECT FROM delivery_backlogs WHERE tenant_id = ${tenantId}))
    UPDATE webhook_endpoints e SET subscribed_after = head.sequence FROM head WHERE e.tenant_id = ${tenantId} AND e.id = ${id}
  `);
}

function listScopes({ authority }: Pick<WebhookEndpoint, "authority">): string[] | null {
  return authority === null ? null : [...authority.scopes];
}

function stateColumns({ state }: EndpointChange, now: Date): Statement {
  if (state === undefined) return sql``;
  return state.to === "disabled"
    ? sql`state = 'disabled', disabled_reason = ${state.reason}, disabled_at = ${now},`
    : sql`state = ${state.to}, disabled_reason = NULL, disabled_at = NULL, failing_since = NULL,`;
}

export const endpointColumns = sql`
  e.tenant_id AS "tenantId", e.id, e.url, e.events, e.description, e.state, e.disabled_reason AS "disabledReason",
  e.verified_at AS "verifiedAt", e.client_id AS "clientId", e.scopes,
  (SELECT c.state FROM clients c WHERE c.id = e.client_id) AS "clientState",
  e.disabled_at AS "disabledAt", e.failing_since AS "failingSince", e.secret, e.old_secret AS "oldSecret",
  e.old_secret_until AS "oldSecretUntil", e.version, e.created_by AS "createdBy", e.created_at AS "createdAt", e.updated_at AS "updatedAt",
  e.key_id AS "keyId", e.mac
`;

export function toEndpoint(
  keys: IntegrityKeys,
  { secret, oldSecret, oldSecretUntil, ...row }: EndpointRow,
): WebhookEndpoint {
  const old =
    oldSecret === null || oldSecretUntil === null ? null : { sealed: oldSecret, until: oldSecretUntil };
  const endpoint: WebhookEndpoint = {
    tenantId: row.tenantId,
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    state: row.state,
    verifiedAt: row.verifiedAt,
    authority: row.clientId === null ? null : { clientId: row.clientId, scopes: row.scopes ?? [] },
    disabledReason: row.disabledReason,
    disabledAt: row.disabledAt,
    failingSince: row.failingSince,
    secrets: { current: secret, old },
    version: row.version,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
  if (!isEndpointAuthentic(keys, endpoint, row)) return { ...endpoint, isTampered: true };
  const isClientDisabled = row.clientId !== null && row.clientState !== "active";
  return isClientDisabled ? { ...endpoint, isClientDisabled } : endpoint;
}
