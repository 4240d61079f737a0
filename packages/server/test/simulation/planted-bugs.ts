import { accountName } from "@bursar/domain";
import type { Accounts } from "../../src/app/transactions/settlement.js";
import type { AcceptedTransaction } from "../../src/app/transactions/transaction.js";
import { DatabaseGone } from "./database-faults.js";
import { type PlantedBug, putAtOnce, withAccept, withDecide } from "./planted-bug.js";
import { appendEvents } from "./simulated-events.js";
import type { Table, Tables } from "./simulated-rows.js";
import {
  accounts,
  eventSequences,
  eventsOf,
  keyOf,
  openTransactions,
  transactionKeys,
  transactions,
  wallets,
} from "./simulated-tables.js";

/** What people get wrong in services that move money. The simulation is worth something if it finds each of these. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    name: "the 202 leaves before the commit",
    breaks: "nothing acknowledged is lost",
    disguisePorts: withAccept((batch, accept) => {
      accept(batch).catch(() => undefined);
      return Promise.resolve(batch.map(() => ({ kind: "accepted" })));
    }),
  },
  {
    name: "a commit whose answer was lost is taken for done",
    breaks: "nothing acknowledged is lost",
    disguisePorts: withAccept((batch, accept) =>
      accept(batch).catch((error: unknown) => {
        if (!(error instanceof DatabaseGone)) throw error;
        return batch.map(() => ({ kind: "accepted" }));
      }),
    ),
  },
  {
    name: "a commit whose answer was lost is repeated under a new id",
    breaks: "nothing is done twice",
    disguisePorts: withAccept((batch, accept) =>
      accept(batch).catch((error: unknown) => {
        if (!(error instanceof DatabaseGone)) throw error;
        return accept(batch.map((one) => ({ ...one, id: anotherId(one.id), idempotencyKey: one.id })));
      }),
    ),
  },
  {
    name: "the key is looked up, and then the row is inserted",
    breaks: "one key has one transaction",
    disguisePorts: withAccept(async (batch, accept, { database, actor }) => {
      const isNew = ({ tenantId, idempotencyKey }: AcceptedTransaction, tables: Tables) =>
        !tables.get(transactionKeys.name)?.has(keyOf(tenantId, idempotencyKey));
      const fresh = await database.query(actor, "look keys up", () =>
        batch.map((one) => isNew(one, database.tables)),
      );
      if (!fresh.every(Boolean)) return await accept(batch);
      return await database.query(actor, "insert without looking", (rows) =>
        batch.map((one) => {
          rows.put(transactionKeys, keyOf(one.tenantId, one.idempotencyKey), one.id);
          rows.put(transactions, keyOf(one.tenantId, one.id), one);
          rows.put(openTransactions, keyOf(one.tenantId, one.id), { ...one, version: 1 });
          return { kind: "accepted" };
        }),
      );
    }),
  },
  {
    name: "a key answers for any body",
    breaks: "the same key with another body is refused",
    disguisePorts: withAccept(async (batch, accept) =>
      (await accept(batch)).map((outcome, index) => ({
        ...outcome,
        requestHash: (batch[index] as AcceptedTransaction).requestHash,
      })),
    ),
  },
  {
    name: "a repeated request is told how things are now",
    breaks: "the same request is given the same answer",
    disguisePorts: (ports) => ({
      ...ports,
      disguiseCreator: (create) => async (principal, key, body) => {
        const created = await create(principal, key, body);
        if ("refused" in created || !created.replayed) return created;
        const { tenantId, id } = created.transaction;
        const now = await ports.transactions.readTransaction(tenantId, id);
        return { ...created, transaction: now ?? created.transaction };
      },
    }),
  },
  {
    name: "what could not be settled is not tried again",
    breaks: "everything ends",
    disguisePorts: (ports) => {
      const tried = new Set<string>();
      return withDecide((claimed, locked, decide) => {
        const fresh = claimed.filter(({ id }) => !tried.has(id));
        for (const { id } of fresh) tried.add(id);
        return decide(fresh, locked);
      })(ports);
    },
  },
  {
    name: "two engines may claim the same",
    breaks: "nothing is done twice",
    disguiseRows: (rows) => ({
      ...rows,
      lockUnlessLocked: (table, key) =>
        table.name === openTransactions.name || rows.lockUnlessLocked(table, key),
      insert: rows.put,
    }),
  },
  {
    name: "balances are read before they are locked",
    breaks: "money is conserved",
    disguiseRows: (rows) => {
      const seen = new Map<string, unknown>();
      return {
        ...rows,
        lock: (table, key, mode) => {
          if (table.name === accounts.name && !seen.has(key)) seen.set(key, rows.get(table, key));
          return rows.lock(table, key, mode);
        },
        get: <Row>(table: Table<Row>, key: string) =>
          table.name === accounts.name && seen.has(key) ? (seen.get(key) as Row) : rows.get(table, key),
      };
    },
  },
  {
    name: "the transactions of a batch do not see each other's payments",
    breaks: "no overdraft, and money is conserved",
    disguisePorts: withDecide((claimed, locked, decide) => {
      const before = new Map(locked);
      return claimed.flatMap((one) => {
        const own: Accounts = new Map(before);
        const settlements = decide([one], own);
        for (const [name, balance] of own) if (balance !== before.get(name)) locked.set(name, balance);
        return settlements;
      });
    }),
  },
  {
    name: "money is written in a transaction of its own",
    breaks: "balances are the effect of what was completed",
    disguiseRows: (rows, tables) => ({
      ...rows,
      put: (table, key, row) =>
        table.name === accounts.name ? putAtOnce(tables, table, key, row) : rows.put(table, key, row),
    }),
  },
  {
    name: "sequences are counted outside the transaction",
    breaks: "the log has no gaps and is in commit order",
    disguiseRows: (rows, tables) => ({
      ...rows,
      lock: (table, key, mode) =>
        table.name === eventSequences.name ? Promise.resolve() : rows.lock(table, key, mode),
      put: (table, key, row) =>
        table.name === eventSequences.name ? putAtOnce(tables, table, key, row) : rows.put(table, key, row),
    }),
  },
  {
    name: "a transaction is called off in whatever state it is",
    breaks: "a final state stays final",
    disguisePorts: (ports, { database, actor }) => ({
      ...ports,
      settlements: {
        ...ports.settlements,
        settleOne: async (tenantId, id, plan) => {
          const settled = await ports.settlements.settleOne(tenantId, id, plan);
          if (settled.length > 0) return settled;
          return await database.transaction(actor, async (run) => {
            const last = await run("read", (rows) => eventsOf(rows, tenantId, id).at(-1));
            if (last === undefined || last.state === "cancelled") return [];
            const { event, subjectId, failureCode, occurredAt } = last;
            const change = { version: last.version + 1, state: "cancelled", previousState: last.state };
            await appendEvents(run, [{ tenantId, event, subjectId, failureCode, occurredAt, ...change }]);
            return [{ tenantId, id }];
          });
        },
      },
    }),
  },
  {
    name: "expiry is not looked at",
    breaks: "what has expired is not paid",
    disguisePorts: withDecide(
      (claimed, locked, decide) => decide(claimed, locked),
      (one) => ({ ...one, expiresAt: null }),
    ),
  },
  {
    name: "a freeze is read without a lock",
    breaks: "a frozen wallet sends nothing",
    disguiseRows: (rows) => ({
      ...rows,
      lock: (table, key, mode) =>
        table.name === wallets.name && mode === "shared" ? Promise.resolve() : rows.lock(table, key, mode),
    }),
  },
  {
    name: "what a failed transaction held stays held",
    breaks: "a failure moves nothing",
    disguisePorts: withDecide((claimed, locked, decide) => {
      const settlements = decide(claimed, locked);
      for (const { transaction, decision } of settlements) {
        const name = accountName({ ...transaction, accountId: transaction.sourceWalletId });
        const { available = 0n, held = 0n } = locked.get(name) ?? {};
        const { amount } = transaction;
        if (decision?.state === "failed" && available >= amount)
          locked.set(name, { available: available - amount, held: held + amount });
      }
      return settlements;
    }),
  },
];

function anotherId(id: string): string {
  return id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
}
