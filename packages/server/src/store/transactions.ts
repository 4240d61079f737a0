import type { AssetRegistry, FailureCode, TransactionState } from "@bursar/domain";
import { isFinal } from "@bursar/domain";
import { coalesce } from "../app/coalesce.js";
import type {
  AcceptedTransaction,
  AcceptOutcome,
  Transaction,
  TransactionFilter,
  TransactionStore,
} from "../app/transactions/transaction.js";
import type { Database } from "./database.js";
import type { EventLog } from "./events.js";
import { idAt } from "./id-at.js";
import { type Statement, sql } from "./sql.js";

interface TransactionRow extends Omit<Transaction, "asset" | "amount" | "steps"> {
  asset: string;
  amount: string;
  steps: { version: number; state: TransactionState; failure: FailureCode | null; occurred_at: string }[];
}

export function createTransactionStore(
  database: Database,
  assets: AssetRegistry,
  log: EventLog,
): TransactionStore {
  const read = (row: TransactionRow): Transaction => {
    const asset = assets.find(row.asset);
    if (asset === undefined)
      throw new Error(`the database holds an asset that is not configured: ${row.asset}`);
    const steps = row.steps.map(({ occurred_at, ...step }) => ({
      ...step,
      occurredAt: new Date(occurred_at),
    }));
    return { ...row, asset, amount: BigInt(row.amount), steps };
  };

  // Served by the primary key and events_by_subject. Requests that come together share one query.
  const readOne = coalesce<TransactionKey, Transaction>(
    ({ tenantId, id }) => `${tenantId} ${id}`,
    async (keys) => {
      const rows = await database.query<TransactionRow>(selectByIds(keys));
      return new Map(rows.map((row) => [`${row.tenantId} ${row.id}`, read(row)]));
    },
    readBatchMax,
  );

  return {
    acceptTransactions: async (batch) => {
      const accepted = new Set(
        (await database.query<{ id: string }>(insertBatch(batch))).map((row) => row.id),
      );
      const repeated = batch.filter(({ id }) => !accepted.has(id));
      const earlier = new Map<string, AcceptOutcome>();
      if (repeated.length > 0) {
        const rows = await database.query<TransactionRow & { key: string; hash: string }>(
          selectByKeys(repeated),
        );
        for (const { key, hash, ...row } of rows) {
          earlier.set(`${row.tenantId} ${key}`, {
            kind: "earlier",
            transaction: read(row),
            requestHash: hash,
          });
        }
      }
      return batch.map(({ id, tenantId, idempotencyKey }) => {
        if (accepted.has(id)) return { kind: "accepted" };
        const found = earlier.get(`${tenantId} ${idempotencyKey}`);
        if (found === undefined) throw new Error("a transaction that was in the way is gone");
        return found;
      });
    },
    readTransaction: (tenantId, id) => readOne({ tenantId, id }),
    readTransactions: async (tenantId, ids) => {
      if (ids.length === 0) return [];
      const rows = await database.query<TransactionRow>(
        sql`${selectTransactions} WHERE t.tenant_id = ${tenantId} AND t.id = ANY(${[...new Set(ids)]}::uuid[])`,
      );
      return rows.map(read);
    },
    listTransactions: async (tenantId, filter, limit, beforeId) => {
      const rows = await database.query<TransactionRow>(sql`
        ${selectTransactions} ${conditions(tenantId, filter, beforeId, limit)} ORDER BY t.id DESC LIMIT ${limit}
      `);
      return rows.map(read);
    },
    cancelTransaction: (tenantId, id, occurredAt) =>
      database.transaction(async (transaction) => {
        // The engine holds this row while it decides; whoever comes second finds it gone.
        const [open] = await transaction.query<{ version: number }>(sql`
          DELETE FROM open_transactions WHERE tenant_id = ${tenantId} AND id = ${id} AND state = 'accepted' RETURNING version
        `);
        if (open === undefined) return false;
        await log.append(transaction, [
          {
            tenantId,
            event: "transaction.updated",
            subjectId: id,
            version: open.version + 1,
            state: "cancelled",
            previousState: "accepted",
            failureCode: null,
            occurredAt,
          },
        ]);
        return true;
      }),
  };
}

/** One statement, so one round trip and one commit for the whole batch. Its conflicts are served by the unique key. */
function insertBatch(batch: readonly AcceptedTransaction[]): Statement {
  const column = <T>(pick: (transaction: AcceptedTransaction) => T) => batch.map(pick);
  return sql`
    WITH accepted AS (
      INSERT INTO transactions
        (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_wallet_id,
         destination_wallet_id, metadata, expires_at, created_at)
      SELECT * FROM unnest(
        ${column((t) => t.tenantId)}::uuid[], ${column((t) => t.id)}::uuid[], ${column((t) => t.idempotencyKey)}::text[],
        ${column((t) => `\\x${t.requestHash}`)}::bytea[], ${column((t) => t.clientId)}::uuid[],
        ${column((t) => t.reference)}::text[], ${column((t) => t.asset.code)}::text[],
        ${column((t) => t.amount.toString())}::numeric[], ${column((t) => t.sourceWalletId)}::uuid[],
        ${column((t) => t.destinationWalletId)}::uuid[],
        ${column((t) => (t.metadata === null ? null : JSON.stringify(t.metadata)))}::jsonb[],
        ${column((t) => t.expiresAt)}::timestamptz[], ${column((t) => t.createdAt)}::timestamptz[])
      ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
      RETURNING tenant_id, id
    )
    INSERT INTO open_transactions (tenant_id, id, state, version)
    SELECT tenant_id, id, 'accepted', 1 FROM accepted
    RETURNING id
  `;
}

interface TransactionKey {
  tenantId: string;
  id: string;
}

const readBatchMax = 64;

function selectByIds(keys: readonly TransactionKey[]): Statement {
  return sql`
    SELECT ${transactionColumns}
    FROM unnest(${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) AS wanted (tenant_id, id)
    JOIN transactions t ON t.tenant_id = wanted.tenant_id AND t.id = wanted.id
  `;
}

// Served by the unique key.
function selectByKeys(batch: readonly AcceptedTransaction[]): Statement {
  return sql`
    SELECT t.idempotency_key AS key, encode(t.request_hash, 'hex') AS hash, ${transactionColumns}
    FROM unnest(${batch.map((t) => t.tenantId)}::uuid[], ${batch.map((t) => t.idempotencyKey)}::text[]) AS wanted (tenant_id, key)
    JOIN transactions t ON t.tenant_id = wanted.tenant_id AND t.idempotency_key = wanted.key
  `;
}

const transactionColumns = sql`
  t.tenant_id AS "tenantId", t.id, t.reference, t.asset, t.amount, t.source_wallet_id AS "sourceWalletId",
  t.destination_wallet_id AS "destinationWalletId", t.metadata, t.expires_at AS "expiresAt", t.created_at AS "createdAt",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('version', e.version, 'state', e.state, 'failure', e.failure_code,
      'occurred_at', e.occurred_at) ORDER BY e.version), '[]')
    FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id) AS steps
`;

const selectTransactions = sql`SELECT ${transactionColumns} FROM transactions t`;

/** Each filter is served by an index, newest first; which one leads is PostgreSQL's choice. */
function conditions(
  tenantId: string,
  filter: TransactionFilter,
  beforeId: string | undefined,
  limit: number,
): Statement {
  const { state, walletId } = filter;
  let where = sql`WHERE t.tenant_id = ${tenantId} ${ownConditions(filter, beforeId)}`;
  if (state !== undefined) where = sql`${where} AND t.id IN (${idsInState(tenantId, state)})`;
  if (walletId === undefined) return where;
  // A wallet can be on either side. Each side is read by its own index and gives a page; the newest of both are the page. With
  // a filter by state a page of each side may not be enough, and all of the wallet's transactions are candidates.
  const side = (column: Statement) => sql`
    (SELECT t.id FROM transactions t
     WHERE t.tenant_id = ${tenantId} AND ${column} = ${walletId} ${ownConditions(filter, beforeId)}
     ORDER BY t.id DESC ${state === undefined ? sql`LIMIT ${limit}` : sql``})`;
  return sql`${where} AND t.id IN (${side(sql`t.source_wallet_id`)} UNION ${side(sql`t.destination_wallet_id`)})`;
}

/** The conditions on a transaction's own columns. An id begins with its time, so a time is a bound on ids. */
function ownConditions(
  { reference, asset, createdAfter, createdBefore }: TransactionFilter,
  beforeId: string | undefined,
): Statement {
  let where = beforeId === undefined ? sql`` : sql`AND t.id < ${beforeId}`;
  if (reference !== undefined) where = sql`${where} AND t.reference = ${reference}`;
  if (asset !== undefined) where = sql`${where} AND t.asset = ${asset}`;
  if (createdAfter !== undefined) where = sql`${where} AND t.id >= ${idAt(createdAfter)}`;
  if (createdBefore !== undefined) where = sql`${where} AND t.id < ${idAt(createdBefore)}`;
  return where;
}

function idsInState(tenantId: string, state: TransactionState): Statement {
  return isFinal(state)
    ? sql`SELECT e.subject_id FROM events e WHERE e.tenant_id = ${tenantId} AND e.state = ${state} AND e.event = 'transaction.updated' AND e.state IN ('completed', 'rejected', 'failed', 'cancelled')`
    : sql`SELECT o.id FROM open_transactions o WHERE o.tenant_id = ${tenantId} AND o.state = ${state}`;
}
