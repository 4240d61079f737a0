import { areIndependent } from "@bursar/domain";
import type { AuditDraft } from "../../../app/audit/audit-entry.js";
import {
  type ChangeDecision,
  type ChangeRequest,
  type ChangeRequestStore,
  type ChangeStanding,
  type ChangeUnit,
  isOpen,
} from "../../../app/change-requests/change-request.js";
import { actorIdOfAct } from "../../../app/events/actor.js";
import type { IdempotentRequest } from "../../../app/requests/idempotency.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../../core/database.js";
import { selectBoundedPage, toListed } from "../../core/rows/bounded-page.js";
import { findByKey, insertOrFind } from "../../core/rows/insert-or-find.js";
import { sql } from "../../core/sql.js";
import type { EventLog, NewEvent } from "../../events/events.js";
import {
  insertDestination,
  type NetworkAddress,
  nameAddress,
  removeDestination,
} from "../../policy/destinations.js";
import { createPolicyReads, writePolicy } from "../../policy/policies.js";
import { appendAudit } from "../audit.js";
import { isOpenInLog } from "../audit-log/find-entries.js";
import { changeClient } from "../change-client.js";
import {
  createStandingReader,
  findChangeFault,
  type OnClientsRead,
  type StandingReader,
  standingOf,
} from "../lineage/lineage.js";
import { findGainers } from "../lineage/refuse-raise.js";
import { findClientOfTenant } from "../read-client.js";
import { judgeCaller } from "../review-caller.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../row-integrity.js";
import { type ChangeRow, findLastVersion, readRequest, selectRequests } from "./change-request-rows.js";
import { insertChangeSignature, listChangeEvidence, readChangeSigners } from "./change-signatures.js";
import { countOpen } from "./count-open-changes.js";

export function createChangeRequestStore(database: Database, log: EventLog): ChangeRequestStore {
  return {
    findEarlier: (tenantId, key) => findEarlier(database, tenantId, key),
    unitOfWork: (work, onClientsRead) =>
      database.transaction(async (tx) => {
        const { unit, appendCollected } = createChangeUnit(tx, log, onClientsRead);
        const result = await work(unit);
        await appendCollected();
        return result;
      }),
    // Served by the primary key.
    read: async (tenantId, id) => {
      const [row] = await database.query<ChangeRow>(
        sql`${selectRequests} WHERE r.tenant_id = ${tenantId} AND r.id = ${id}`,
      );
      return row && readShown(database, row);
    },
    listEvidence: (tenantId, id) => listChangeEvidence(database, tenantId, id),
    // Served by the primary key, read backwards, for a bounded number of rows.
    list: async (tenantId, { state }, limit, beforeId) => {
      const before = beforeId === undefined ? sql`` : sql`AND id < ${beforeId}`;
      const page = selectBoundedPage({
        lead: (max) => sql`
          SELECT id, state FROM change_requests WHERE tenant_id = ${tenantId} ${before} ORDER BY id DESC LIMIT ${max}`,
        rest: state === undefined ? undefined : sql`WHERE s.state = ${state}`,
        limit,
      });
      const found = await database.query<{ id: string; isEnd: boolean }>(page);
      const { items: ids, scannedTo } = toListed(found, ({ id }) => id);
      const rows = await database.query<ChangeRow>(sql`
        ${selectRequests} WHERE r.tenant_id = ${tenantId} AND r.id = ANY(${ids}::uuid[]) ORDER BY r.id DESC
      `);
      return { items: rows.map((row) => readShown(database, row)), scannedTo };
    },
    // Served by change_requests_due.
    listDue: (now, limit, after) =>
      database.query(sql`
        SELECT tenant_id AS "tenantId", id, coalesce(effective_at, expires_at)::text AS "dueAt" FROM change_requests
        WHERE state IN ('pending', 'scheduled') AND coalesce(effective_at, expires_at) <= ${now}
          ${after === undefined ? sql`` : sql`AND (coalesce(effective_at, expires_at), id) > (${after.dueAt}::timestamptz, ${after.id}::uuid)`}
        ORDER BY coalesce(effective_at, expires_at), id LIMIT ${limit}
      `),
    // Served by the primary key.
    readMany: async (tenantId, ids) => {
      if (ids.length === 0) return [];
      const rows = await database.query<ChangeRow>(
        sql`${selectRequests} WHERE r.tenant_id = ${tenantId} AND r.id = ANY(${[...ids]}::uuid[])`,
      );
      return rows.map(readRequest);
    },
  };
}

/**
 * Audit entries and events are collected and appended at the end, in this order. The head of the audit chain and the counter of the
 * event log are locked last by every SQL transaction, after the client or the policy that a change is about. Otherwise this one would
 * deadlock with a direct change of the same client, or with an engine that has locked it.
 */
function createChangeUnit(tx: Tx, log: EventLog, onRead: OnClientsRead | undefined) {
  const drafts: AuditDraft[] = [];
  const events: NewEvent[] = [];
  const record = (audit: AuditDraft) => {
    drafts.push(audit);
  };
  const recordAddress = (written: NetworkAddress | undefined, audit: AuditDraft): boolean => {
    if (written !== undefined) record(nameAddress(audit, written));
    return written !== undefined;
  };
  const standings = createStandingReader(tx, { onRead });
  const unit: ChangeUnit = {
    ...createPolicyReads(tx),
    insert: (request, keyed) => insertRequest(tx, request, keyed),
    reviewCaller: async (tenantId, caller) => caller && (await judgeCaller(tx, tenantId, caller)),
    countOpen: (tenantId, requesterId) => countOpen(tx, standings, tenantId, requesterId),
    areIndependent: async (clientId, otherId) => {
      const found = await standings.read([clientId, otherId]);
      const [one, other] = [standingOf(found, clientId), standingOf(found, otherId)];
      if (one.isSingleAdministrator) return clientId !== otherId;
      return areIndependent(one.lineage, other.lineage);
    },
    findGainers: (raise, approverIds) => findGainers(tx, raise, approverIds, onRead),
    // Served by the primary key.
    lock: async (tenantId, id) => {
      tx.send(sql`SELECT FROM change_requests WHERE tenant_id = ${tenantId} AND id = ${id} FOR UPDATE`);
      const [row] = await tx.query<ChangeRow>(
        sql`${selectRequests} WHERE r.tenant_id = ${tenantId} AND r.id = ${id}`,
      );
      if (row === undefined) return undefined;
      const request = readRequest(row);
      return { request, isAuthentic: isChangeAuthentic(tx, request, row) };
    },
    isOpenInLog: (tenantId, shownId) => isOpenInLog(tx, tenantId, shownId),
    lastVersion: (request) => findLastVersion(tx, request),
    readStanding: (request) => readStanding(tx, standings, request),
    recordDecision: (request, decision, evidence) => {
      recordDecision(tx, request, decision);
      const { tenantId, id } = request;
      if (evidence !== null) insertChangeSignature(tx, { tenantId, id, version: decision.version }, evidence);
    },
    save: (request, previousState, audit) => {
      updateRequest(tx, request);
      drafts.push(...audit);
      events.push(eventOf(request, previousState, audit[0]));
    },
    writePolicy: async (tenantId, expectedVersion, policy, audit) => {
      const written = await writePolicy(tx, tenantId, expectedVersion, policy);
      if (written !== undefined) record(audit);
      return written;
    },
    addDestination: async (destination, audit) =>
      recordAddress((await insertDestination(tx, destination, undefined)) ? destination : undefined, audit),
    removeDestination: async (tenantId, id, audit) =>
      recordAddress(await removeDestination(tx, tenantId, id, audit.occurredAt), audit),
    findClient: (tenantId, id) => findClientOfTenant(tx, tenantId, id),
    changeClient: (tenantId, id, decide, audit) =>
      changeClient(tx, { tenantId, id }, decide, { audit, record }),
    afterCommit: tx.afterCommit,
  };
  const appendCollected = async () => {
    await appendAudit(tx, drafts);
    await log.append(tx, events);
  };
  return { unit, appendCollected };
}

/**
 * The MAC covers a request with its state and its decisions. The service applies what is due without a caller, so a writer to the
 * database could otherwise insert an approved change, and the service would carry it out and authenticate the result.
 */
function isChangeAuthentic(tx: Tx, request: ChangeRequest, row: RowMac): boolean {
  return isRowAuthentic(requireKeys(tx), "change request", request, row);
}

/**
 * A request for a reader. One that was changed in the database is shown without decisions, because a writer could otherwise make the next
 * approver believe that a colleague has approved. One that has ended may have a MAC of a master key that was replaced since.
 */
function readShown(source: KeyedQueryable, row: ChangeRow): ChangeRequest {
  const request = readRequest(row);
  if (request.decisions.length === 0) return request;
  const label = isOpen(request) ? "change request" : "ended change request";
  // One that the service has ended because of that has a MAC again.
  const isAuthentic =
    request.failureCode !== "CHANGE_REQUEST_TAMPERED" &&
    isRowAuthentic(requireKeys(source), label, request, row);
  return isAuthentic ? request : { ...request, decisions: [] };
}

/** Writes the MACs of open requests with the current key. Served by change_requests_due. */
export async function resealChangeRequests(
  tx: Tx,
  afterId: string,
  limit: number,
): Promise<string | undefined> {
  const rows = await tx.query<ChangeRow>(sql`
    ${selectRequests} WHERE r.state IN ('pending', 'scheduled') AND r.id > ${afterId} ORDER BY r.id LIMIT ${limit} FOR UPDATE OF r
  `);
  for (const row of rows) {
    const request = readRequest(row);
    // A new MAC would hide that it was tampered with.
    if (isChangeAuthentic(tx, request, row)) updateRequest(tx, request);
  }
  return rows.at(-1)?.id;
}

/** Served by the primary key. */
function updateRequest(tx: Tx, request: ChangeRequest): void {
  const { tenantId, id, state, version, failureCode, effectiveAt, updatedAt } = request;
  const { keyId, mac } = macOfRow(requireKeys(tx), "change request", request);
  tx.send(sql`
    UPDATE change_requests SET state = ${state}, version = ${version}, failure_code = ${failureCode},
      effective_at = ${effectiveAt}, updated_at = ${updatedAt}, key_id = ${keyId}, mac = ${mac}
    WHERE tenant_id = ${tenantId} AND id = ${id}
  `);
}

function eventOf(
  { tenantId, id, version, state, failureCode, updatedAt }: ChangeRequest,
  previousState: ChangeRequest["state"] | "none",
  audit: AuditDraft | undefined,
): NewEvent {
  return {
    tenantId,
    event: "change_request.updated",
    subjectId: id,
    version,
    state,
    previousState,
    failureCode,
    actorId: audit === undefined ? null : actorIdOfAct(audit),
    occurredAt: updatedAt,
  };
}

async function insertRequest(tx: Tx, request: ChangeRequest, keyed: IdempotentRequest | undefined) {
  const { tenantId } = request;
  return await insertOrFind(
    async () => {
      const inserted = await tx.query(sql`
        INSERT INTO change_requests (tenant_id, id, kind, target, change, comment, requirement, state, version, requested_by,
          idempotency_key, request_hash, created_at, expires_at, updated_at)
        VALUES (${tenantId}, ${request.id}, ${request.kind}, ${request.target}, ${JSON.stringify(request.change)},
          ${request.comment}, ${JSON.stringify(request.requirement)}, ${request.state}, ${request.version},
          ${request.requestedBy}, ${keyed?.key ?? null}, decode(${keyed?.hash ?? null}, 'hex'), ${request.createdAt},
          ${request.expiresAt}, ${request.updatedAt})
        ON CONFLICT (tenant_id, idempotency_key) DO NOTHING RETURNING id
      `);
      return inserted.length === 1;
    },
    () => findEarlier(tx, tenantId, keyed?.key),
  );
}

/** Served by the unique index on the key and the primary key. */
async function findEarlier(source: KeyedQueryable, tenantId: string, key: string | undefined) {
  const table = { columns: sql`id`, table: sql`change_requests` };
  const found = await findByKey<{ id: string }>(source, table, tenantId, key);
  if (found === undefined) return undefined;
  const [row] = await source.query<ChangeRow>(
    sql`${selectRequests} WHERE r.tenant_id = ${tenantId} AND r.id = ${found.id}`,
  );
  return row && { earlier: readShown(source, row), requestHash: found.requestHash };
}

async function readStanding(tx: Tx, reader: StandingReader, request: ChangeRequest): Promise<ChangeStanding> {
  const { requestedBy, createdAt, decisions } = request;
  const standings = await reader.read([requestedBy, ...decisions.map(({ clientId }) => clientId)]);
  const signers = await readChangeSigners(tx, request);
  const { isActive, ...requester } = standingOf(standings, requestedBy);
  const requestedAtMs = createdAt.getTime();
  return {
    requester: {
      ...requester,
      initiatorId: requestedBy,
      isEnabled: isActive,
      requestedAtMs,
      askedAtMs: requestedAtMs,
    },
    approvals: decisions.map(({ version, clientId, decision, decidedAt }) => {
      const { lineage, lineageKeys, authorityChangedAtMs, ...decider } = standingOf(standings, clientId);
      const standingFault = findChangeFault(decider);
      const publicKeys = [...decider.publicKeys, ...(signers.get(version) ?? [])];
      const made = { clientId, decision, atMs: decidedAt.getTime(), publicKeys };
      return { ...made, standingFault, lineage, lineageKeys, authorityChangedAtMs };
    }),
  };
}

function recordDecision(tx: Tx, { tenantId, id }: ChangeRequest, decision: ChangeDecision): void {
  const { version, clientId, decision: made, comment, decidedAt } = decision;
  tx.send(sql`
    INSERT INTO change_decisions (tenant_id, change_request_id, version, client_id, decision, comment, decided_at)
    VALUES (${tenantId}, ${id}, ${version}, ${clientId}, ${made}, ${comment}, ${decidedAt})
  `);
}
