import {
  type Asset,
  type AssetRegistry,
  accountOfParty,
  type FailureCode,
  type RejectionCode,
  type TransactionKind,
  type TransactionParties,
  type TransactionState,
} from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type {
  AcceptedTransaction,
  AcceptOutcome,
  Transaction,
  TransactionStep,
  TransactionStore,
  VerifiedTransactions,
} from "../../app/transactions/transaction.js";
import { readTransactionDetails } from "../../app/transactions/transaction-details.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import type { RowMac } from "../access/row-integrity.js";
import { assertGeneration, type Database, requireKeys } from "../core/database.js";
import { toListed } from "../core/rows/bounded-page.js";
import { confirmCommits, insertOrFindAll, witnessInserted } from "../core/rows/insert-or-find.js";
import { type Statement, sql } from "../core/sql.js";
import { insertRequestContexts } from "../tracing/trace-contexts.js";
import { type JudgementRow, judgementColumn, readJudgement } from "./read-judgement.js";
import { isRequestAuthentic, macOfAccepted } from "./transaction-integrity.js";
import { selectPageOfIds } from "./transaction-page.js";

interface TransactionRow
  extends Omit<Transaction, "asset" | "amount" | "parties" | "steps" | "judgement" | "cancelRequest"> {
  asset: string;
  amount: string;
  kind: TransactionKind;
  sourceAccountId: string;
  sourceAddress: string | null;
  destinationAccountId: string;
  destinationAddress: string | null;
  steps: StepRow[];
  judgement: JudgementRow | null;
  cancelRequest: { requestedAt: string; actorId: string | null } | null;
}

interface StepRow {
  version: number;
  state: TransactionState;
  failure: RejectionCode | FailureCode | null;
  occurred_at: string;
  details: unknown;
  actor_id: string | null;
}

interface EarlierRow extends TransactionRow {
  key: string;
  hash: string;
}

type EarlierTransaction = Extract<AcceptOutcome, { kind: "earlier" }>;

const accepted = { kind: "accepted" } as const;

export function createTransactionStore(
  database: Database,
  assets: AssetRegistry,
): TransactionStore & VerifiedTransactions {
  const keys = () => requireKeys(database);
  const transactionColumns = columnsWith(assets);
  const read = (row: TransactionRow): Transaction => {
    const asset = configured(assets, row.asset);
    // Field by field, because every transaction comes by here: see `asAccepted`.
    return {
      tenantId: row.tenantId,
      id: row.id,
      clientId: row.clientId,
      reference: row.reference,
      asset,
      amount: BigInt(row.amount),
      parties: readParties(row),
      metadata: row.metadata,
      expiresAt: row.expiresAt,
      createdAt: row.createdAt,
      policyVersion: row.policyVersion,
      policyRule: row.policyRule,
      steps: row.steps.map((step) => readStep(step, assets)),
      judgement: row.judgement && readJudgement(row.judgement, row, row.steps.at(-1)?.state, keys),
      cancelRequest: row.cancelRequest && {
        requestedAt: new Date(row.cancelRequest.requestedAt),
        actorId: row.cancelRequest.actorId,
      },
    };
  };
  const readEarlier = (row: EarlierRow) => ({
    kind: "earlier" as const,
    transaction: read(row),
    requestHash: row.hash,
  });

  // Served by the primary key and events_by_subject. Requests that come together share one query.
  const readOne = coalesce<TransactionKey, Transaction>(
    ({ tenantId, id }) => `${tenantId} ${id}`,
    async (keys) => {
      const rows = await database.query<TransactionRow>(selectByIds(keys, transactionColumns));
      return new Map(rows.map((row) => [`${row.tenantId} ${row.id}`, read(row)]));
    },
    readBatchMax,
  );

  // Served by the primary key.
  const readMany = async (tenantId: string, ids: readonly string[]) =>
    ids.length === 0
      ? []
      : await database.query<TransactionRow & RowMac>(sql`
          SELECT ${transactionColumns}, t.key_id AS "keyId", t.mac FROM transactions t
          WHERE t.tenant_id = ${tenantId} AND t.id = ANY(${[...new Set(ids)]}::uuid[])
        `);

  // A batch whose items policy rejects asks for all of their keys.
  const findOne = coalesce<Pick<AcceptedTransaction, "tenantId" | "idempotencyKey">, EarlierTransaction>(
    ({ tenantId, idempotencyKey }) => `${tenantId} ${idempotencyKey}`,
    async (keys) => {
      const rows = await database.query<EarlierRow>(selectByKeys(keys, transactionColumns));
      if (rows.length > 0) await confirmCommits(database);
      return new Map(rows.map((row) => [`${row.tenantId} ${row.key}`, readEarlier(row)]));
    },
    readBatchMax,
  );

  return {
    acceptTransactions: async (batch) => {
      assertGeneration(database, batch);
      const generation = database.identity.generation();
      const earlier = await insertOrFindAll(batch, {
        insert: (ordered) => database.query<{ id: string }>(insertBatch(ordered, requireKeys(database))),
        find: (conflicting) => database.query<EarlierRow>(selectByKeys(conflicting, transactionColumns)),
        read: readEarlier,
        confirm: () => confirmCommits(database),
      });
      witnessInserted(database, generation, "transaction", batch, earlier);
      return earlier.map((found) => found ?? accepted);
    },
    readTransaction: (tenantId, id) => readOne({ tenantId, id }),
    readTransactions: async (tenantId, ids) => (await readMany(tenantId, ids)).map(read),
    readVerified: async (tenantId, ids) =>
      (await readMany(tenantId, ids)).map((row) => {
        const transaction = read(row);
        const isAuthentic = isRequestAuthentic(requireKeys(database), transaction, row);
        return isAuthentic ? transaction : { ...transaction, isTampered: true };
      }),
    listTransactions: async (tenantId, filter, limit, beforeId) => {
      const rows = await database.query<TransactionRow & { isEnd: boolean }>(sql`
        SELECT page."isEnd", ${transactionColumns}
        FROM (${selectPageOfIds({ tenantId, filter, limit, beforeId })}) page
        JOIN transactions t ON t.tenant_id = ${tenantId} AND t.id = page.id
        ORDER BY page.id DESC
      `);
      return toListed(rows, read);
    },
    findByKey: (tenantId, idempotencyKey) => findOne({ tenantId, idempotencyKey }),
  };
}

/**
 * One statement, so one round trip and one commit for the whole batch. Its conflicts are served by the unique key. It answers with
 * those that were not accepted, which are few.
 */
function insertBatch(batch: readonly AcceptedTransaction[], keys: IntegrityKeys): Statement {
  const column = <T>(pick: (transaction: AcceptedTransaction) => T) => batch.map(pick);
  const ids = column((t) => t.id);
  const toJudge = batch.filter(({ needsJudgement }) => needsJudgement).map(({ id }) => id);
  return sql`
    WITH accepted AS (
      INSERT INTO transactions
        (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, kind, source_account_id,
         source_address, destination_account_id, destination_address, metadata, expires_at, created_at, policy_version, policy_rule, mac, key_id)
      SELECT given.*, ${keys.currentId}::text FROM unnest(
        ${column((t) => t.tenantId)}::uuid[], ${ids}::uuid[], ${column((t) => t.idempotencyKey)}::text[],
        ${column((t) => `\\x${t.requestHash}`)}::bytea[], ${column((t) => t.clientId)}::uuid[],
        ${column((t) => t.reference)}::text[], ${column((t) => t.asset.code)}::text[], ${column((t) => t.amount)}::numeric[],
        ${column((t) => t.parties.kind)}::text[],
        ${column((t) => accountOfParty(t.parties.source, t.asset.network))}::uuid[],
        ${column((t) => addressOf(t.parties.source))}::text[],
        ${column((t) => accountOfParty(t.parties.destination, t.asset.network))}::uuid[],
        ${column((t) => addressOf(t.parties.destination))}::text[],
        ${column((t) => (t.metadata === null ? null : JSON.stringify(t.metadata)))}::jsonb[],
        ${column((t) => t.expiresAt)}::timestamptz[], ${column((t) => t.createdAt)}::timestamptz[],
        ${column((t) => t.policyVersion)}::integer[], ${column((t) => t.policyRule)}::text[],
        ${column((t) => `\\x${macOfAccepted(keys, t)}`)}::bytea[]) AS given
      ON CONFLICT (tenant_id, idempotency_key) DO NOTHING
      RETURNING tenant_id, id
    ), opened AS (
      INSERT INTO open_transactions (tenant_id, id, state, version, needs_judgement)
      SELECT tenant_id, id, 'accepted', 1, id = ANY (${toJudge}::uuid[]) FROM accepted
    )${insertRequestContexts(batch)}
    SELECT id FROM unnest(${ids}::uuid[]) AS given (id) WHERE id NOT IN (SELECT id FROM accepted)
  `;
}

function addressOf(party: TransactionParties["source" | "destination"]): string | null {
  return "address" in party ? party.address : null;
}

function configured(assets: AssetRegistry, code: string): Asset {
  const asset = assets.find(code);
  if (asset === undefined) throw new Error(`the database has an asset that is not configured: ${code}`);
  return asset;
}

function readParties(row: TransactionRow): TransactionParties {
  const { kind, sourceAccountId, sourceAddress, destinationAccountId, destinationAddress } = row;
  switch (kind) {
    case "payout":
      return {
        kind,
        source: { walletId: sourceAccountId },
        destination: { address: destinationAddress ?? "" },
      };
    case "deposit":
      return {
        kind,
        source: { address: sourceAddress },
        destination: { walletId: destinationAccountId },
      };
    default:
      return { kind, source: { walletId: sourceAccountId }, destination: { walletId: destinationAccountId } };
  }
}

function readStep(step: StepRow, assets: AssetRegistry): TransactionStep {
  return {
    version: step.version,
    state: step.state,
    failure: step.failure,
    occurredAt: new Date(step.occurred_at),
    details: readTransactionDetails(step.details, assets),
    actorId: step.actor_id,
  };
}

interface TransactionKey {
  tenantId: string;
  id: string;
}

const readBatchMax = 64;

function selectByIds(keys: readonly TransactionKey[], transactionColumns: Statement): Statement {
  return sql`
    SELECT ${transactionColumns}
    FROM unnest(${keys.map((key) => key.tenantId)}::uuid[], ${keys.map((key) => key.id)}::uuid[]) AS wanted (tenant_id, id)
    JOIN transactions t ON t.tenant_id = wanted.tenant_id AND t.id = wanted.id
  `;
}

// Served by the unique key.
function selectByKeys(
  batch: readonly Pick<AcceptedTransaction, "tenantId" | "idempotencyKey">[],
  transactionColumns: Statement,
): Statement {
  return sql`
    SELECT t.idempotency_key AS key, encode(t.request_hash, 'hex') AS hash, ${transactionColumns}
    FROM unnest(${batch.map((t) => t.tenantId)}::uuid[], ${batch.map((t) => t.idempotencyKey)}::text[]) AS wanted (tenant_id, key)
    JOIN transactions t ON t.tenant_id = wanted.tenant_id AND t.idempotency_key = wanted.key
  `;
}

/** Only what a network works on can have a request to cancel it: the others cost no look-up. Served by the primary key. */
function columnsWith({ list }: AssetRegistry): Statement {
  const onRails = list.filter(({ network }) => network !== "book").map(({ code }) => code);
  return sql`${transactionColumns}, CASE WHEN t.asset = ANY (${onRails}::text[]) THEN (
    SELECT jsonb_build_object('requestedAt', o.cancel_requested_at, 'actorId', o.cancel_requested_by) FROM open_transactions o
    WHERE o.tenant_id = t.tenant_id AND o.id = t.id AND o.cancel_requested_at IS NOT NULL) END AS "cancelRequest"`;
}

const transactionColumns = sql`
  t.tenant_id AS "tenantId", t.id, t.reference, t.asset, t.amount, t.kind,
  t.source_account_id AS "sourceAccountId", t.source_address AS "sourceAddress",
  t.destination_account_id AS "destinationAccountId", t.destination_address AS "destinationAddress", t.metadata, t.expires_at AS "expiresAt", t.created_at AS "createdAt",
  t.client_id AS "clientId", t.policy_version AS "policyVersion", t.policy_rule AS "policyRule",
  (SELECT coalesce(jsonb_agg(jsonb_build_object('version', e.version, 'state', e.state, 'failure', e.failure_code,
      'occurred_at', e.occurred_at, 'details', e.details, 'actor_id', e.actor_id) ORDER BY e.version), '[]')
    FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id) AS steps,
  ${judgementColumn}
`;
