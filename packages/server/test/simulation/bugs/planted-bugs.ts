import { accountName, accountOfParty, type Balance } from "@bursar/domain";
import type { ClaimedPayment } from "../../../src/app/transactions/settlement.js";
import type { AcceptedTransaction } from "../../../src/app/transactions/transaction.js";
import { DatabaseGone } from "../database/database-faults.js";
import type { Table, Tables } from "../database/simulated-rows.js";
import {
  accounts,
  asOpen,
  eventSequences,
  events,
  keyOf,
  openTransactions,
  type StoredEvent,
  transactionKeys,
  transactions,
  wallets,
} from "../database/simulated-tables.js";
import { type PlantedBug, putAtOnce, withAccept, withUnit } from "./planted-bug.js";
import { plantedClockBugs } from "./planted-clock-bugs.js";
import { plantedRailBugs } from "./planted-rail-bugs.js";
import { plantedRewindBugs } from "./planted-rewind-bugs.js";

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
          rows.put(openTransactions, keyOf(one.tenantId, one.id), asOpen(one));
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
    name: "a repeated request is answered with the present state",
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
      const once = (claimed: ClaimedPayment[]) => {
        const fresh = claimed.filter(({ id }) => !tried.has(id));
        for (const { id } of fresh) tried.add(id);
        return fresh;
      };
      return withUnit((unit) => ({
        claimAccepted: async (...claim) => once(await unit.claimAccepted(...claim)),
        claimAgain: async (...claim) => once(await unit.claimAgain(...claim)),
      }))(ports);
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
    disguisePorts: withUnit((unit) => ({
      lockAccounts: async (keys) => new ForgetfulBalances(await unit.lockAccounts(keys)),
    })),
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
    name: "a transaction is cancelled in whatever state it is",
    breaks: "a final state stays final",
    disguisePorts: (ports, { database: { tables } }) =>
      withUnit((unit) => ({
        claimPayment: async (key) => {
          const { tenantId, id } = key;
          const open = await unit.claimPayment(key);
          const accepted = tables.get(transactions.name)?.get(keyOf(tenantId, id)) as
            | AcceptedTransaction
            | undefined;
          const changes = [...(tables.get(events.name)?.values() ?? [])] as StoredEvent[];
          const last = changes.filter(({ subjectId }) => subjectId === id).at(-1);
          if (open !== undefined || accepted === undefined || last?.state !== "completed") return open;
          const { asset, amount, parties, createdAt } = accepted;
          return {
            ...{
              tenantId,
              id,
              state: "accepted",
              version: last.version,
              asset: asset.code,
              amount,
              createdAt,
            },
            ...{ network: "book", feeHold: null, countedAt: null },
            sourceAccountId: accountOfParty(parties.source, "book"),
            destinationAccountId: accountOfParty(parties.destination, "book"),
          } as ClaimedPayment;
        },
      }))(ports),
  },
  {
    name: "expiry is not looked at",
    breaks: "what has expired is not paid",
    disguisePorts: withUnit((unit) => ({
      claimAccepted: async (...claim) =>
        (await unit.claimAccepted(...claim)).map((payment) => ({ ...payment, expiresAt: null })),
    })),
  },
  {
    name: "a freeze is read without a lock",
    firstSeed: 20,
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
    disguisePorts: withUnit((unit) => ({
      write: (settlements, balances) => {
        for (const { transaction, decision } of settlements) {
          const { tenantId, sourceAccountId: accountId, asset, amount } = transaction;
          const name = accountName({ tenantId, accountId, asset });
          const { available = 0n, held = 0n } = balances.get(name) ?? {};
          if (decision?.state === "failed" && available >= amount)
            balances.set(name, { available: available - amount, held: held + amount });
        }
        return unit.write(settlements, balances);
      },
    })),
  },
  ...plantedClockBugs,
  ...plantedRewindBugs,
  ...plantedRailBugs,
];

/** Gives every reader the balances that were locked, and keeps what was written last. */
class ForgetfulBalances extends Map<string, Balance> {
  readonly #locked: ReadonlyMap<string, Balance>;

  constructor(locked: ReadonlyMap<string, Balance>) {
    super(locked);
    this.#locked = new Map(locked);
  }

  override get(name: string): Balance | undefined {
    return this.#locked.get(name);
  }
}

function anotherId(id: string): string {
  return id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");
}
