import {
  type AccountKey,
  type Accounts,
  accountName,
  type ClaimedTransaction,
  type Settlement,
  type SettlementStore,
} from "../../src/app/transactions/settlement.js";
import { BrokenRule } from "./database-faults.js";
import type { Actor } from "./scheduler.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import { appendEvents } from "./simulated-events.js";
import type { Rows } from "./simulated-rows.js";
import { accounts, keyOf, openTransactions, transactions, wallets } from "./simulated-tables.js";

/** `store/settlement.ts`, on the simulated database: the same statements in the same order. */
export function createSimulatedSettlementStore(database: SimulatedDatabase, actor: Actor): SettlementStore {
  return {
    settle: async (limit, acceptedFrom, decide) => {
      for (let round = 0; round < roundsMax; round++) {
        const result = await database.transaction(actor, async (run) => {
          const claimed = await run("claim", (rows) => claim(rows, limit, acceptedFrom));
          if (claimed.length === 0) return { settled: [] };
          const keys = accountsOf(claimed);
          const locked = await run("lock accounts", (rows) => lockAccounts(rows, keys));
          if (locked.size < keys.length) return { missing: keys };
          const settlements = decide(claimed, locked);
          await write(run, settlements, locked);
          return { settled: settlements.map(({ transaction: { tenantId, id } }) => ({ tenantId, id })) };
        });
        if ("settled" in result) return result.settled;
        await database.query(actor, "create accounts", (rows) => createAccounts(rows, result.missing));
      }
      return [];
    },
  };
}

const roundsMax = 5;

async function claim(
  rows: Rows,
  limit: number,
  acceptedFrom: Date | undefined,
): Promise<ClaimedTransaction[]> {
  const fromMs = acceptedFrom?.getTime() ?? 0;
  const claimed = rows
    .all(openTransactions)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .filter(({ id }) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) >= fromMs)
    .filter(({ tenantId, id }) => rows.lockUnlessLocked(openTransactions, keyOf(tenantId, id)))
    .slice(0, limit);
  const found: ClaimedTransaction[] = [];
  for (const { tenantId, id, version } of claimed) {
    const accepted = rows.get(transactions, keyOf(tenantId, id));
    if (accepted === undefined) throw new Error("what is open was never accepted");
    await rows.lock(wallets, keyOf(tenantId, accepted.sourceWalletId), "shared");
    const wallet = rows.get(wallets, keyOf(tenantId, accepted.sourceWalletId));
    if (wallet === undefined) throw new Error("a wallet is gone");
    const { asset, amount, sourceWalletId, destinationWalletId, expiresAt } = accepted;
    const { frozen: sourceIsFrozen, network } = wallet;
    found.push({
      ...{ tenantId, id, version, asset: asset.code, amount, sourceWalletId, destinationWalletId, expiresAt },
      ...{ sourceIsFrozen, network },
    });
  }
  return found;
}

function accountsOf(claimed: readonly ClaimedTransaction[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const { tenantId, asset, sourceWalletId, destinationWalletId } of claimed) {
    for (const ownerId of [sourceWalletId, destinationWalletId])
      keys.set(accountName({ tenantId, ownerId, asset }), { tenantId, ownerId, asset });
  }
  return [...keys.values()];
}

async function lockAccounts(rows: Rows, keys: readonly AccountKey[]): Promise<Accounts> {
  const locked: Accounts = new Map();
  const names = keys.map(accountName).sort();
  // A statement sees the rows that were there when it began, however long it waits for their locks.
  for (const name of names.filter((one) => rows.get(accounts, one) !== undefined)) {
    await rows.lock(accounts, name);
    const balance = rows.get(accounts, name);
    if (balance !== undefined) locked.set(name, balance);
  }
  return locked;
}

async function createAccounts(rows: Rows, keys: readonly AccountKey[]): Promise<void> {
  for (const name of keys.map(accountName).sort())
    if (await rows.isFree(accounts, name)) rows.put(accounts, name, { available: 0n, held: 0n });
}

async function write(
  run: RunStatement,
  settlements: readonly Settlement[],
  changed: Accounts,
): Promise<void> {
  await run("write accounts", (rows) => {
    for (const [name, balance] of changed) {
      if (balance.available < 0n || balance.held < 0n) throw new BrokenRule(`${name} is below zero`);
      rows.put(accounts, name, balance);
    }
  });
  await run("close", (rows) => {
    for (const { transaction } of settlements)
      rows.remove(openTransactions, keyOf(transaction.tenantId, transaction.id));
  });
  await appendEvents(
    run,
    settlements.map(({ transaction: { tenantId, id }, decision, occurredAt }) => ({
      tenantId,
      event: "transaction.updated",
      subjectId: id,
      version: decision.version,
      state: decision.state,
      previousState: "accepted",
      failureCode: decision.failure,
      occurredAt,
    })),
  );
}
