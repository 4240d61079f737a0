import { type AccountKey, accountName } from "@bursar/domain";
import type {
  Accounts,
  ClaimedTransaction,
  PlanBatch,
  SettledTransaction,
  Settlement,
  SettlementStore,
} from "../../src/app/transactions/settlement.js";
import { BrokenRule } from "./database-faults.js";
import type { Actor } from "./scheduler.js";
import type { RunStatement, SimulatedDatabase } from "./simulated-database.js";
import { appendEvents } from "./simulated-events.js";
import type { Rows } from "./simulated-rows.js";
import {
  accounts,
  keyOf,
  type OpenTransaction,
  openTransactions,
  transactions,
  wallets,
} from "./simulated-tables.js";

/** `store/settlement.ts`, on the simulated database: the same statements in the same order. */
export function createSimulatedSettlementStore(database: SimulatedDatabase, actor: Actor): SettlementStore {
  type Claim = (rows: Rows) => Promise<ClaimedTransaction[]>;

  async function settle(take: Claim, plan: PlanBatch): Promise<SettledTransaction[]> {
    for (let round = 0; round < roundsMax; round++) {
      const result = await database.transaction(actor, async (run) => {
        const claimed = await run("claim", take);
        if (claimed.length === 0) return { settled: [] };
        const { decide } = await plan(claimed);
        const keys = accountsOf(claimed);
        const locked = await run("lock accounts", (rows) => lockAccounts(rows, keys));
        if (locked.size < keys.length) return { missing: keys };
        const settlements = decide(locked, new Map());
        await write(run, settlements, locked);
        return { settled: settlements.map(({ transaction: { tenantId, id } }) => ({ tenantId, id })) };
      });
      if ("settled" in result) return result.settled;
      await database.query(actor, "create accounts", (rows) => createAccounts(rows, result.missing));
    }
    return [];
  }

  return {
    settleAccepted: ({ limit, passOver }, acceptedFrom, plan) =>
      settle(async (rows) => (await claim(rows, limit + passOver, acceptedFrom)).slice(passOver), plan),
    // Nobody is asked in the simulated world: the policy is that of a new tenant.
    settleDue: async () => [],
    settleOne: (tenantId, id, plan) => settle((rows) => claimOne(rows, tenantId, id), plan),
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
  return await readClaimed(rows, claimed);
}

async function claimOne(rows: Rows, tenantId: string, id: string): Promise<ClaimedTransaction[]> {
  const key = keyOf(tenantId, id);
  if (rows.get(openTransactions, key) === undefined) return [];
  await rows.lock(openTransactions, key);
  const open = rows.get(openTransactions, key);
  return open === undefined ? [] : await readClaimed(rows, [open]);
}

async function readClaimed(rows: Rows, claimed: readonly OpenTransaction[]): Promise<ClaimedTransaction[]> {
  const found: ClaimedTransaction[] = [];
  for (const { tenantId, id, version, needsJudgement } of claimed) {
    const accepted = rows.get(transactions, keyOf(tenantId, id));
    if (accepted === undefined) throw new Error("what is open was never accepted");
    await rows.lock(wallets, keyOf(tenantId, accepted.sourceWalletId), "shared");
    const wallet = rows.get(wallets, keyOf(tenantId, accepted.sourceWalletId));
    if (wallet === undefined) throw new Error("a wallet is gone");
    const { clientId, asset, amount, sourceWalletId, destinationWalletId, expiresAt, createdAt } = accepted;
    const { frozen: sourceIsFrozen, purpose: sourcePurpose, network } = wallet;
    found.push({
      ...{ tenantId, id, state: "accepted", version, clientId, asset: asset.code, amount, sourceWalletId },
      ...{
        destinationWalletId,
        expiresAt,
        createdAt,
        sourceIsFrozen,
        sourcePurpose,
        network,
        needsJudgement,
      },
      approval: null,
    });
  }
  return found;
}

function accountsOf(claimed: readonly ClaimedTransaction[]): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  for (const { tenantId, asset, sourceWalletId, destinationWalletId } of claimed) {
    for (const accountId of [sourceWalletId, destinationWalletId])
      keys.set(accountName({ tenantId, accountId, asset }), { tenantId, accountId, asset });
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
    settlements.map(({ transaction: { tenantId, id }, decision, occurredAt }) => {
      if (decision === undefined) throw new Error("nothing waits for approval here");
      const { version, state, failure: failureCode } = decision;
      return {
        ...{ tenantId, event: "transaction.updated", subjectId: id, version, state, failureCode, occurredAt },
        previousState: "accepted",
      };
    }),
  );
}
