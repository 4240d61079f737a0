import type { FailureCode, TransactionState } from "@bursar/domain";
import type {
  AcceptedTransaction,
  AcceptOutcome,
  Transaction,
  TransactionStore,
} from "../../../src/app/transactions/transaction.js";
import { readTransactionDetails } from "../../../src/app/transactions/transaction-details.js";
import type { DatabaseIdentity } from "../../../src/runtime/database/database-identity.js";
import type { Actor } from "../world/scheduler.js";
import { simulatedAssets } from "../world/simulated-assets.js";
import { DatabaseGone } from "./database-faults.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import {
  asOpen,
  eventsOf,
  keyOf,
  openTransactions,
  transactionKeys,
  transactions,
} from "./simulated-tables.js";

/** `store/transactions/transactions.ts`, on the simulated database: the same statements in the same order. */
export function createSimulatedTransactionStore(
  database: SimulatedDatabase,
  actor: Actor,
  identity: Pick<DatabaseIdentity, "generation">,
): TransactionStore {
  return {
    acceptTransactions: async (batch) => {
      const current = identity.generation();
      if (batch.some(({ generation = current }) => generation !== current))
        throw new DatabaseGone("a transaction was checked against another database");
      const accepted = await database.query(actor, `accept ${batch.length}`, (rows) =>
        insertBatch(rows, batch),
      );
      const repeated = batch.filter(({ id }) => !accepted.has(id));
      const earlier =
        repeated.length === 0
          ? new Map<string, AcceptOutcome>()
          : await database.query(actor, "find by keys", (rows) => selectByKeys(rows, repeated));
      return batch.map(({ id, tenantId, idempotencyKey }) => {
        if (accepted.has(id)) return { kind: "accepted" };
        const found = earlier.get(keyOf(tenantId, idempotencyKey));
        if (found === undefined) throw new Error("a transaction that was in the way is gone");
        return found;
      });
    },
    readTransaction: (tenantId, id) =>
      database.query(actor, "read", (rows) => readTransaction(rows, tenantId, id)),
    readTransactions: (tenantId, ids) =>
      database.query(actor, "read several", (rows) =>
        ids.flatMap((id) => readTransaction(rows, tenantId, id) ?? []),
      ),
    listTransactions: (tenantId, filter, limit, beforeId) =>
      database.query(actor, "list", (rows) => ({
        items: rows
          .all(transactions)
          .filter(
            ({ tenantId: owner, id }) => owner === tenantId && (beforeId === undefined || id < beforeId),
          )
          .flatMap(({ id }) => readTransaction(rows, tenantId, id) ?? [])
          .filter(({ steps }) => filter.states?.includes(stateOf(steps)) ?? true)
          .reverse()
          .slice(0, limit),
        scannedTo: undefined,
      })),
    findByKey: (tenantId, idempotencyKey) =>
      database.query(actor, "find by key", (rows) =>
        selectByKeys(rows, [{ tenantId, idempotencyKey }]).get(keyOf(tenantId, idempotencyKey)),
      ),
  };
}

async function insertBatch(rows: Rows, batch: readonly AcceptedTransaction[]): Promise<Set<string>> {
  const accepted = new Set<string>();
  const ordered = batch.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  for (const transaction of ordered) {
    const { tenantId, id, idempotencyKey } = transaction;
    if (!(await rows.isFree(transactionKeys, keyOf(tenantId, idempotencyKey)))) continue;
    rows.put(transactionKeys, keyOf(tenantId, idempotencyKey), id);
    rows.insert(transactions, keyOf(tenantId, id), transaction);
    rows.insert(openTransactions, keyOf(tenantId, id), asOpen(transaction));
    accepted.add(id);
  }
  return accepted;
}

function nameOf({ tenantId, idempotencyKey, id }: AcceptedTransaction): string {
  return keyOf(idempotencyKey, tenantId, id);
}

type Earlier = Extract<AcceptOutcome, { kind: "earlier" }>;

function selectByKeys(
  rows: Rows,
  batch: readonly Pick<AcceptedTransaction, "tenantId" | "idempotencyKey">[],
): Map<string, Earlier> {
  const found = new Map<string, Earlier>();
  for (const { tenantId, idempotencyKey } of batch) {
    const id = rows.get(transactionKeys, keyOf(tenantId, idempotencyKey));
    const transaction = id === undefined ? undefined : readTransaction(rows, tenantId, id);
    if (transaction === undefined) continue;
    const { requestHash } = rows.get(transactions, keyOf(tenantId, transaction.id)) as AcceptedTransaction;
    found.set(keyOf(tenantId, idempotencyKey), { kind: "earlier", transaction, requestHash });
  }
  return found;
}

function readTransaction(rows: Rows, tenantId: string, id: string): Transaction | undefined {
  const accepted = rows.get(transactions, keyOf(tenantId, id));
  if (accepted === undefined) return undefined;
  const steps = eventsOf(rows, tenantId, id).map(({ failureCode, occurredAt, details, ...event }) => ({
    version: event.version,
    state: event.state as TransactionState,
    failure: failureCode as FailureCode | null,
    occurredAt,
    details: readTransactionDetails(details, simulatedAssets),
    actorId: event.actorId ?? null,
  }));
  return { ...accepted, steps, cancelRequest: null, judgement: null };
}

function stateOf(steps: Transaction["steps"]): TransactionState {
  return steps.at(-1)?.state ?? "accepted";
}
