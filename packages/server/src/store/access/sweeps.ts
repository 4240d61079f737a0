import { staleTokensMs } from "@bursar/domain";
import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { ApiClient, ClientChange } from "../../app/clients/client.js";
import {
  allClients,
  type OpenPage,
  type Sweep,
  type SweepKind,
  type SweepStore,
} from "../../app/clients/sweep.js";
import { actorIdOfAct, operatorActorId } from "../../app/events/actor.js";
import {
  type Database,
  type KeyedQueryable,
  type Queryable,
  requireKeys,
  type Tx,
} from "../core/database.js";
import { idAt } from "../core/id-at.js";
import { queryWithin } from "../core/lock-waits.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { type Statement, sql } from "../core/sql.js";
import { cancelBy } from "../markets/request-changes.js";
import { requestCancels } from "../transactions/request-cancels.js";
import { isRowAuthentic, macOfRow, type RowMac } from "./row-integrity.js";
import { readStandingAt, type StopAt, stopAt } from "./stops/past-stops.js";
import { cancelStoppedOrders } from "./stops/stopped-orders.js";
import { listCancellingStops, listStoppedPayments } from "./stops/stopped-payments.js";

/** Records what a change of a client's state leaves to do. The orders of a disabled client are always cancelled. */
export function queueSweepsOfChange(
  tx: Tx,
  client: Pick<ApiClient, "tenantId" | "id" | "state">,
  { set, cancel = [] }: ClientChange,
  audit: AuditDraft,
): void {
  const { tenantId, id: clientId } = client;
  const state = set?.state ?? client.state;
  if (state === "active" && client.state === "disabled")
    queueSweeps(tx, { tenantId, clientId }, ["release_transactions"], audit);
  const isDisabledNow = state === "disabled" && client.state === "active";
  if (state === "disabled" && (isDisabledNow || cancel.length > 0)) {
    const transactions = cancel.includes("transactions") ? (["cancel_transactions"] as const) : [];
    queueSweeps(tx, { tenantId, clientId }, ["cancel_orders", ...transactions], audit);
  }
}

/** A sweep that waits begins again with the later request. */
export function queueSweeps(
  tx: Tx,
  { tenantId, clientId }: Pick<Sweep, "tenantId" | "clientId">,
  kinds: readonly SweepKind[],
  audit: AuditDraft,
): void {
  const requestedBy = actorIdOfAct(audit) ?? operatorActorId;
  const { occurredAt: requestedAt } = audit;
  for (const kind of kinds) {
    const sweep = { tenantId, clientId, kind, requestedBy, requestedAt };
    const { keyId, mac } = macOfRow(requireKeys(tx), "sweep", sweep);
    tx.send(sql`
      INSERT INTO client_sweeps (tenant_id, client_id, kind, requested_by, requested_at, key_id, mac)
      VALUES (${tenantId}, ${clientId}, ${kind}, ${requestedBy}, ${requestedAt}, ${keyId}, ${mac})
      ON CONFLICT (tenant_id, client_id, kind) DO UPDATE SET requested_by = EXCLUDED.requested_by,
        requested_at = EXCLUDED.requested_at, key_id = EXCLUDED.key_id, mac = EXCLUDED.mac
    `);
  }
}

/** As long as a batch of the engine waits. Then it is the turn of other tenants. */
const lockTimeoutMs = 1000;

export function createSweepStore(database: Database): SweepStore {
  return {
    // The table is empty nearly always; one client's sweeps are served by the primary key. A tenant with many does not hide those of others.
    listSweeps: async (group, limit, of) => {
      const rows = await database.query<SweepRow>(sql`
        SELECT ${sweepColumns} FROM client_sweeps
        WHERE kind ${group === "orders" ? sql`=` : sql`<>`} 'cancel_orders'
          ${of === undefined ? sql`` : sql`AND tenant_id = ${of.tenantId} AND client_id = ${of.clientId}`}
        ORDER BY row_number() OVER (PARTITION BY tenant_id ORDER BY requested_at), requested_at
        LIMIT ${limit}
      `);
      const forged = rows.filter((row) => !isAuthentic(database, row));
      for (const row of forged) await removeForged(database, row);
      return rows.filter((row) => !forged.includes(row)).map(readSweep);
    },
    // Served by primary keys: a tenant has few open orders. Locked in the order of their ids, as a matching engine locks them.
    requestOrderCancels: async (sweep, limit) => {
      const request = sql`
        WITH own AS (
          SELECT p.tenant_id, p.id FROM open_orders p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.id
          WHERE p.tenant_id = ${sweep.tenantId} AND NOT p.cancel_requested AND ${isSwept(sweep, sql`o`)}
          ORDER BY p.id LIMIT ${limit} FOR UPDATE OF p)
        UPDATE open_orders p SET ${cancelBy(sweep.requestedBy)}
        FROM own WHERE p.tenant_id = own.tenant_id AND p.id = own.id
        RETURNING p.market
      `;
      const rows = await queryWithin<{ market: string }>(database, lockTimeoutMs, request);
      return rows.map(({ market }) => market);
    },
    // Served by primary keys.
    hasOpenOrders: async (sweep) => {
      const rows = await database.query(sql`
        SELECT FROM open_orders p JOIN orders o ON o.tenant_id = p.tenant_id AND o.id = p.id
        WHERE p.tenant_id = ${sweep.tenantId} AND ${isSwept(sweep, sql`o`)} LIMIT 1
      `);
      return rows.length > 0;
    },
    listOpen: (sweep, after, limit) => listOpen(database, sweep, after, limit),
    requestRailCancels: async ({ tenantId, requestedBy }, ids) =>
      void (await queryWithin(database, lockTimeoutMs, requestCancels(tenantId, ids, requestedBy))),
    releaseHeld: (sweep, after, limit) => releaseHeld(database, sweep, after, limit),
    cancelStoppedOrders: (after, limit) => cancelStoppedOrders(database, after, limit),
    listCancellingStops: (after, limit) => listCancellingStops(database, after, limit),
    listStoppedPayments: (stop, before, limit) => listStoppedPayments(database, stop, before, limit),
    // Not if it was requested again in the meantime.
    finishSweep: async ({ tenantId, clientId, kind, requestedAt }) => {
      await database.query(sql`
        DELETE FROM client_sweeps
        WHERE tenant_id = ${tenantId} AND client_id = ${clientId} AND kind = ${kind} AND requested_at = ${requestedAt}
      `);
    },
  };
}

type SweepRow = Sweep & RowMac;

const sweepColumns = sql`tenant_id AS "tenantId", client_id AS "clientId", kind, requested_by AS "requestedBy",
  requested_at AS "requestedAt", key_id AS "keyId", mac`;

function readSweep({ keyId: _, mac: __, ...sweep }: SweepRow): Sweep {
  return sweep;
}

/** Whether the service has recorded the sweep. What it cancels names the client that requested it, so nobody else may write one. */
function isAuthentic(source: KeyedQueryable, row: SweepRow): boolean {
  return isRowAuthentic(requireKeys(source), "sweep", readSweep(row), row);
}

/** It would take the place of others. Unless it was requested meanwhile. Served by the primary key. */
async function removeForged(database: Queryable, { tenantId, clientId, kind, mac }: SweepRow): Promise<void> {
  await database.query(sql`
    DELETE FROM client_sweeps
    WHERE tenant_id = ${tenantId} AND client_id = ${clientId} AND kind = ${kind} AND mac IS NOT DISTINCT FROM ${mac}::bytea
  `);
}

/** Writes the MACs of sweeps with the current key; returns how many. The table is empty nearly always. */
export async function resealSweeps(tx: Tx): Promise<number> {
  const keys = requireKeys(tx);
  const rows = await tx.query<SweepRow>(sql`
    SELECT ${sweepColumns} FROM client_sweeps ORDER BY tenant_id, client_id, kind FOR UPDATE
  `);
  const old = rows.filter((row) => row.keyId !== keys.currentId && isAuthentic(tx, row));
  for (const row of old) {
    const { keyId, mac } = macOfRow(keys, "sweep", readSweep(row));
    tx.send(sql`
      UPDATE client_sweeps SET key_id = ${keyId}, mac = ${mac}
      WHERE tenant_id = ${row.tenantId} AND client_id = ${row.clientId} AND kind = ${row.kind}
    `);
  }
  return old.length;
}

/** Rows of all clients that are read to find those of one. It takes some milliseconds. */
const rowsReadMax = 2000;

/** Rows of all clients of a tenant, and the number of those that are wanted. */
interface Scan {
  rowsMax: number;
  limit: number;
}

function scanOf({ clientId }: Pick<Sweep, "clientId">, limit: number): Scan {
  return { limit, rowsMax: clientId === allClients ? limit : rowsReadMax };
}

/** The first wanted rows of what was read, and the row after which to go on; none if everything was read. */
function takeWanted<Row extends { isWanted: boolean }>(
  rows: readonly Row[],
  { rowsMax, limit }: Scan,
): { wanted: Row[]; last: Row | undefined } {
  const wanted: Row[] = [];
  for (const row of rows) {
    if (row.isWanted) wanted.push(row);
    if (wanted.length === limit) return { wanted, last: row };
  }
  return { wanted, last: rows.length < rowsMax ? undefined : rows.at(-1) };
}

interface OpenRow {
  id: string;
  isOnRail: boolean;
  clientId: string | null;
  /** Of its client, when it was requested; null if it is not swept. */
  stop: StopAt | null;
}

/** Also what was requested while the client was stopped and nobody had noticed. Served by the primary keys of open_transactions, transactions and stop_records. */
async function listOpen(
  database: KeyedQueryable,
  sweep: Sweep,
  after: string | undefined,
  limit: number,
): Promise<OpenPage> {
  const scan = scanOf(sweep, limit);
  const read = await database.query<OpenRow>(sql`
    SELECT o.id, o.state NOT IN ('accepted', 'awaiting_approval') AS "isOnRail", t.client_id AS "clientId",
      CASE WHEN (o.state IN ('accepted', 'awaiting_approval') OR (NOT o.cancel_requested AND t.kind <> 'deposit')) ${isOfClient(sweep, sql`t`)}
        THEN CASE WHEN o.id < ${endOf(sweep)} THEN '"stopped"' ELSE ${stopAt(sql`t.tenant_id`, sql`t.client_id`, sql`t.created_at`)} END END AS stop
    FROM (
      SELECT p.tenant_id, p.id, p.state, p.cancel_requested FROM open_transactions p
      WHERE p.tenant_id = ${sweep.tenantId} AND p.id > ${after ?? allClients} AND p.id < ${endOf(sweep, staleTokensMs)}
      ORDER BY p.id LIMIT ${scan.rowsMax}) AS o
    ${joinByKey(sql`transactions`, sql`t`, sql`o`)}
    ORDER BY o.id
  `);
  const keys = requireKeys(database);
  const rows = read.map(({ clientId, stop, ...row }) => {
    const subject = { tenantId: sweep.tenantId, subjectId: clientId ?? "" };
    return { ...row, isWanted: readStandingAt(keys, subject, stop) !== "free" };
  });
  const { wanted, last } = takeWanted(rows, scan);
  return {
    unsettled: wanted.filter(({ isOnRail }) => !isOnRail).map(({ id }) => id),
    onRail: wanted.filter(({ isOnRail }) => isOnRail).map(({ id }) => id),
    next: last?.id,
  };
}

/** A position in the order of open_transactions_to_retry_of_tenant. The time is text, because it can be infinite. */
interface HeldPosition {
  retryAt: string;
  id: string;
}

const firstHeld: HeldPosition = { retryAt: "-infinity", id: allClients };

/**
 * A row that has failed also has a time to retry, and keeps it. What was accepted is judged again: the policy can have been tightened for
 * the very reason that the client was disabled. Served by open_transactions_to_retry_of_tenant and primary keys.
 */
async function releaseHeld(
  database: Database,
  sweep: Sweep,
  after: string | undefined,
  limit: number,
): Promise<{ releasedCount: number; next: string | undefined }> {
  const scan = scanOf(sweep, limit);
  const from = after === undefined ? firstHeld : (JSON.parse(after) as HeldPosition);
  const rows = await database.query<HeldPosition & { isJudgedAgain: boolean; isWanted: boolean }>(sql`
    SELECT o.id, o.retry_at::text AS "retryAt", o.state = 'accepted' AND t.kind <> 'deposit' AS "isJudgedAgain",
      o.last_error IS NULL ${isOfClient(sweep, sql`t`)} AS "isWanted"
    FROM (
      SELECT p.tenant_id, p.id, p.state, p.retry_at, p.last_error FROM open_transactions p
      WHERE p.tenant_id = ${sweep.tenantId} AND p.retry_at IS NOT NULL
        AND (p.retry_at, p.id) > (${from.retryAt}::timestamptz, ${from.id}::uuid)
      ORDER BY p.retry_at, p.id LIMIT ${scan.rowsMax}) AS o
    ${joinByKey(sql`transactions`, sql`t`, sql`o`)}
    ORDER BY o.retry_at, o.id
  `);
  const { wanted, last } = takeWanted(rows, scan);
  const next = last && JSON.stringify({ retryAt: last.retryAt, id: last.id } satisfies HeldPosition);
  if (wanted.length === 0) return { releasedCount: 0, next };
  const judgedAgain = wanted.filter(({ isJudgedAgain }) => isJudgedAgain).map(({ id }) => id);
  const release = sql`
    WITH held AS (
      SELECT o.tenant_id, o.id FROM open_transactions o
      WHERE o.tenant_id = ${sweep.tenantId} AND o.id = ANY (${wanted.map(({ id }) => id)}::uuid[])
        AND o.retry_at IS NOT NULL AND o.last_error IS NULL
      ORDER BY o.id FOR UPDATE OF o)
    UPDATE open_transactions o SET retry_at = NULL,
      needs_judgement = o.needs_judgement OR o.id = ANY (${judgedAgain}::uuid[])
    FROM held WHERE o.tenant_id = held.tenant_id AND o.id = held.id RETURNING o.id
  `;
  const released = await queryWithin(database, lockTimeoutMs, release);
  return { releasedCount: released.length, next };
}

/** What the client requested before it was disabled. */
function isSwept(sweep: Pick<Sweep, "clientId" | "requestedAt">, row: Statement): Statement {
  return sql`${row}.id < ${endOf(sweep)} ${isOfClient(sweep, row)}`;
}

/** The least id of what was requested later, or so much later. */
function endOf({ requestedAt }: Pick<Sweep, "requestedAt">, laterMs = 0): string {
  return idAt(new Date(requestedAt.getTime() + laterMs + 1));
}

function isOfClient({ clientId }: Pick<Sweep, "clientId">, row: Statement): Statement {
  return clientId === allClients ? sql`` : sql`AND ${row}.client_id = ${clientId}`;
}
