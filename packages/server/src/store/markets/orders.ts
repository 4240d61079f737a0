import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import {
  type AcceptedOrder,
  type EarlierOrder,
  type Order,
  type OrderDetails,
  type OrderStep,
  type OrderStore,
  readDetails,
} from "../../app/markets/order.js";
import { assertGeneration, type Database, requireKeys } from "../core/database.js";
import { toListed } from "../core/rows/bounded-page.js";
import { confirmCommits, insertOrFindAll, witnessInserted } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";
import { insertRequestContexts } from "../tracing/trace-contexts.js";
import { macOfOrder } from "./order-integrity.js";
import { selectPageOfOrders } from "./order-page.js";
import {
  hasOrdersOfFrozenWallet,
  requestAmendment,
  requestCancel,
  requestCancelsOfFrozenWallet,
} from "./request-changes.js";

interface OrderRow extends Omit<Order, "price" | "size" | "quoteSize" | "step"> {
  price: string | null;
  size: string | null;
  quoteSize: string | null;
  step:
    | (Pick<OrderStep, "version" | "state" | "failure"> & { occurred_at: string; details: OrderDetails })
    | null;
}

interface EarlierRow extends OrderRow {
  key: string;
  hash: string;
}

const accepted = { kind: "accepted" } as const;

export function createOrderStore(database: Database): OrderStore {
  return {
    acceptOrders: async (batch) => {
      assertGeneration(database, batch);
      const generation = database.identity.generation();
      const keys = requireKeys(database);
      const earlier = await insertOrFindAll(batch, {
        insert: (ordered) => database.query<{ id: string }>(insertBatch(keys, ordered)),
        find: (conflicting) => database.query<EarlierRow>(selectByKeys(conflicting)),
        read: readEarlier,
        confirm: () => confirmCommits(database),
      });
      witnessInserted(database, generation, "order", batch, earlier);
      return earlier.map((found) => found ?? accepted);
    },
    findOrderByKey: async (tenantId, idempotencyKey) => {
      const [row] = await database.query<EarlierRow>(selectByKeys([{ tenantId, idempotencyKey }]));
      return row && readEarlier(row);
    },
    // Served by the primary key and events_by_subject.
    readOrder: async (tenantId, id) => {
      const [row] = await database.query<OrderRow>(sql`
        SELECT ${orderColumns}, ${stepColumn} AS step FROM orders o WHERE o.tenant_id = ${tenantId} AND o.id = ${id}
      `);
      return row && readOrder(row);
    },
    // Served by the primary key.
    readAskedOrders: async (tenantId, ids) => {
      if (ids.length === 0) return [];
      const rows = await database.query<OrderRow>(sql`
        SELECT ${orderColumns}, NULL AS step FROM orders o
        WHERE o.tenant_id = ${tenantId} AND o.id = ANY(${[...new Set(ids)]}::uuid[])
      `);
      return rows.map(readOrder);
    },
    listOrders: async (tenantId, filter, limit, beforeId) => {
      const rows = await database.query<OrderRow & { isEnd: boolean }>(sql`
        SELECT page."isEnd", ${orderColumns}, ${stepColumn} AS step
        FROM (${selectPageOfOrders({ tenantId, filter, limit, beforeId })}) page
        JOIN orders o ON o.tenant_id = ${tenantId} AND o.id = page.id ORDER BY o.id DESC
      `);
      return toListed(rows, readOrder);
    },
    requestCancel: (tenantId, id, actorId) => requestCancel(database, tenantId, id, actorId),
    requestAmendment: (tenantId, id, size, actorId) =>
      requestAmendment(database, tenantId, id, size, actorId),
    requestCancelsOfFrozenWallet: (tenantId, walletId) =>
      requestCancelsOfFrozenWallet(database, tenantId, walletId),
    hasOrdersOfFrozenWallet: (tenantId, walletId) => hasOrdersOfFrozenWallet(database, tenantId, walletId),
  };
}

/**
 * One statement, so one round trip and one commit for the whole batch. Its conflicts are served by the unique key. It answers with
 * those that were not accepted, which are few.
 */
function insertBatch(keys: IntegrityKeys, batch: readonly AcceptedOrder[]): Statement {
  const column = <T>(pick: (order: AcceptedOrder) => T) => batch.map(pick);
  const ids = column((o) => o.id);
  const judgedLater = batch.filter(({ needsJudgement }) => needsJudgement).map(({ id }) => id);
  return sql`
    WITH accepted AS (
      INSERT INTO orders
        (tenant_id, id, idempotency_key, request_hash, client_id, market, wallet_id, reference, side, type, time_in_force,
         self_trade, price, size, quote_size, policy_version, created_at, mac, key_id)
      SELECT *, ${keys.currentId} FROM unnest(
        ${column((o) => o.tenantId)}::uuid[], ${ids}::uuid[], ${column((o) => o.idempotencyKey)}::text[],
        ${column((o) => `\\x${o.requestHash}`)}::bytea[], ${column((o) => o.clientId)}::uuid[],
        ${column((o) => o.market)}::text[], ${column((o) => o.walletId)}::uuid[], ${column((o) => o.reference)}::text[],
        ${column((o) => o.side)}::text[], ${column((o) => o.type)}::text[], ${column((o) => o.timeInForce)}::text[],
        ${column((o) => o.selfTrade)}::text[], ${column((o) => o.price)}::bigint[], ${column((o) => o.size)}::bigint[],
        ${column((o) => o.quoteSize)}::numeric[], ${column((o) => o.policyVersion)}::integer[],
        ${column((o) => o.createdAt)}::timestamptz[], ${column((o) => `\\x${macOfOrder(keys, o)}`)}::bytea[])
      ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
      RETURNING tenant_id, id, market, wallet_id, side, price, size
    ), opened AS (
      INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, size, state, version, needs_judgement)
      SELECT tenant_id, id, market, wallet_id, side, price, size, 'pending', 1, id = ANY(${judgedLater}::uuid[]) FROM accepted
    )${insertRequestContexts(batch)}
    SELECT id FROM unnest(${ids}::uuid[]) AS given (id) WHERE id NOT IN (SELECT id FROM accepted)
  `;
}

// Served by the unique key.
function selectByKeys(batch: readonly Pick<AcceptedOrder, "tenantId" | "idempotencyKey">[]): Statement {
  return sql`
    SELECT o.idempotency_key AS key, encode(o.request_hash, 'hex') AS hash, ${orderColumns}, NULL AS step
    FROM unnest(${batch.map((o) => o.tenantId)}::uuid[], ${batch.map((o) => o.idempotencyKey)}::text[]) AS wanted (tenant_id, key)
    JOIN orders o ON o.tenant_id = wanted.tenant_id AND o.idempotency_key = wanted.key
  `;
}

const orderColumns = sql`
  o.tenant_id AS "tenantId", o.id, o.client_id AS "clientId", o.market, o.wallet_id AS "walletId", o.reference, o.side, o.type,
  o.time_in_force AS "timeInForce", o.self_trade AS "selfTrade", o.price, o.size, o.quote_size AS "quoteSize",
  o.policy_version AS "policyVersion", o.created_at AS "createdAt",
  (SELECT jsonb_build_object('policyVersion', j.policy_version, 'rule', j.rule, 'reason', j.reason)
    FROM order_judgements j WHERE j.tenant_id = o.tenant_id AND j.order_id = o.id) AS judgement
`;

const stepColumn = sql`
  (SELECT jsonb_build_object('version', e.version, 'state', e.state, 'failure', e.failure_code, 'occurred_at', e.occurred_at,
      'details', e.details)
    FROM events e WHERE e.tenant_id = o.tenant_id AND e.subject_id = o.id ORDER BY e.version DESC LIMIT 1)
`;

function readEarlier({ key: _, hash, ...row }: EarlierRow): EarlierOrder {
  return { kind: "earlier", order: readOrder(row), requestHash: hash };
}

function readOrder(row: OrderRow): Order {
  return {
    ...row,
    price: toNumber(row.price),
    size: toNumber(row.size),
    quoteSize: row.quoteSize === null ? null : BigInt(row.quoteSize),
    step: row.step && readStep(row.step),
  };
}

function readStep({ occurred_at, details, ...step }: NonNullable<OrderRow["step"]>): OrderStep {
  return { ...step, ...readDetails(details), occurredAt: new Date(occurred_at) };
}

function toNumber(digits: string | null): number | null {
  return digits === null ? null : Number(digits);
}
