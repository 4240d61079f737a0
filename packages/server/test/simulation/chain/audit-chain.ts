import { balanceOf, falseToken, modelCoin } from "../../harness/chain/model-chain.js";
import { modelChainNetwork } from "../../harness/chain/model-network.js";
import { chainHoldings, chainWallets, networks } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Table } from "../database/simulated-rows.js";
import { accounts, events, keyOf, openTransactions, transactions } from "../database/simulated-tables.js";
import { usdc } from "./chain-wallets.js";
import type { ChainWorld } from "./chain-world.js";

export function rowsOf<Row>(database: SimulatedDatabase, { name }: Table<Row>): Row[] {
  return [...(database.tables.get(name)?.values() ?? [])] as Row[];
}

/** Compares what the service says with what the chain has done, from the chain alone. Each violation is a sentence. */
export function auditChain(world: ChainWorld): string[] {
  return [
    ...world.errors.map((error) => `an error that nothing has caused: ${error}`),
    ...world.database.deadlocks.map((name) => `a deadlock over ${name}`),
    ...auditHalts(world),
    ...auditPayments(world),
    ...auditWallets(world),
    ...auditDeposits(world),
  ];
}

function auditHalts({ database }: ChainWorld): string[] {
  const halted = [...rowsOf(database, networks), ...rowsOf(database, chainWallets)];
  return halted.flatMap(({ haltedReason }) => (haltedReason === null ? [] : [`halted: ${haltedReason}`]));
}

function auditPayments({ database, chain }: ChainWorld): string[] {
  const done = chain.blocks().flatMap((block) => block.transactions);
  const states = lastStates(database);
  return rowsOf(database, transactions).flatMap(({ id, parties, asset }) => {
    if (parties.kind === "deposit") return [];
    const own = done.filter(({ intent }) => intent?.transactionId === id);
    const paid = own.filter(
      ({ intent, transfers }) => intent?.purpose !== "cancellation" && transfers.length > 0,
    );
    const state = states.get(id)?.state ?? "accepted";
    const faults: string[] = [];
    if (own.length > 1) faults.push(`${own.length} transactions on the chain are for ${id}`);
    if ((state === "completed") !== (paid.length === 1))
      faults.push(`the payment ${id} in ${asset.code} is ${state} and was paid ${paid.length} times`);
    if (["accepted", "processing", "broadcast", "confirming"].includes(state))
      faults.push(`the payment ${id} is still ${state}`);
    return faults;
  });
}

function auditWallets({ database, chain, wallets }: ChainWorld): string[] {
  const { balances, nonces } = chain.final();
  return wallets.flatMap(({ tenantId, walletId, address }) => {
    const row = rowsOf(database, chainWallets).find((one) => one.walletId === walletId);
    const used = nonces.get(address) ?? 0;
    const faults =
      row?.nextNonce === used && row.finalNonce === used
        ? []
        : [`${address} has used ${used} nonces, and the books say ${row?.nextNonce} and ${row?.finalNonce}`];
    for (const asset of [modelCoin, usdc, falseToken]) {
      const account = (database.tables.get(accounts.name)?.get(keyOf(tenantId, walletId, asset)) ?? {
        available: 0n,
        held: 0n,
      }) as { available: bigint; held: bigint };
      const gathered = rowsOf(database, chainHoldings).find(
        (one) => one.walletId === walletId && one.asset === asset,
      );
      const booked = account.available + account.held + (gathered?.gathered ?? 0n);
      const onChain = balanceOf(balances, address, asset);
      if (booked !== onChain) faults.push(`${address} has ${onChain} ${asset}, and its books say ${booked}`);
      if (account.held !== 0n) faults.push(`${address} still holds ${account.held} ${asset}`);
    }
    return faults;
  });
}

/** Every transfer from outside the tenant is one deposit, if it is large enough and a block shows it. */
function auditDeposits({ database, chain, wallets }: ChainWorld): string[] {
  const states = lastStates(database);
  const accepted = rowsOf(database, transactions);
  const deposits = accepted.filter(({ parties }) => parties.kind === "deposit");
  const faults: string[] = [];
  for (const { hash, intent, transfers, success } of chain.blocks().flatMap((block) => block.transactions)) {
    const failed = deposits.filter(
      ({ id, reference }) => reference === hash && states.get(id)?.state === "failed",
    );
    if (failed.length > 0) faults.push(`the deposit ${hash} is on the chain and has failed`);
    if (!success) continue;
    const payment = accepted.find(({ id }) => id === intent?.transactionId);
    const isExpected = (to: string) => {
      const wallet = wallets.find(({ address }) => address === to);
      return wallet !== undefined && wallet.tenantId !== payment?.tenantId ? wallet : undefined;
    };
    const expected = new Map<string, number>();
    for (const { to, asset, amount } of transfers) {
      const wallet = isExpected(to);
      const minimum = modelChainNetwork.depositMinimum.get(asset) ?? 1n;
      if (wallet === undefined || amount < minimum || amount === 0n) continue;
      const name = `${wallet.walletId} ${asset} ${amount}`;
      expected.set(name, (expected.get(name) ?? 0) + 1);
    }
    for (const [name, count] of expected) {
      const credited = deposits.filter(
        ({ id, idempotencyKey, reference, asset, amount, parties }) =>
          reference === hash &&
          // A sum of small transfers has the hash of the last of them, and can be as large as another one in it.
          !idempotencyKey.includes(" gathered ") &&
          states.get(id)?.state === "completed" &&
          `${"walletId" in parties.destination ? parties.destination.walletId : ""} ${asset.code} ${amount}` ===
            name,
      );
      if (credited.length !== count)
        faults.push(`the transfer ${hash} of ${name} was credited ${credited.length} times`);
    }
  }
  return faults;
}

function lastStates(database: SimulatedDatabase): Map<string, { state: string; failure: string | null }> {
  const states = new Map<string, { state: string; failure: string | null; version: number }>();
  for (const { subjectId, state, failureCode, version } of rowsOf(database, events))
    if (version > (states.get(subjectId)?.version ?? 0))
      states.set(subjectId, { state, failure: failureCode, version });
  return states;
}

/** Outcomes by state or failure, for the tally. */
export function countOutcomes({ database }: ChainWorld): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state, failure } of lastStates(database).values()) {
    const what = failure ?? state;
    counts[what] = (counts[what] ?? 0) + 1;
  }
  return counts;
}

export function isAnythingOpen({ database }: ChainWorld): boolean {
  return rowsOf(database, openTransactions).length > 0;
}
