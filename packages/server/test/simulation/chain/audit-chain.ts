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
    ...auditSums(world),
  ];
}

function auditHalts({ database }: ChainWorld): string[] {
  const halted = [...rowsOf(database, networks), ...rowsOf(database, chainWallets)];
  return halted.flatMap(({ haltedReason }) => (haltedReason === null ? [] : [`halted: ${haltedReason}`]));
}

function auditPayments({ database, chain, neverPaid, givenUp, kind }: ChainWorld): string[] {
  const done = chain.blocks().flatMap((block) => block.transactions);
  const states = lastStates(database);
  return rowsOf(database, transactions).flatMap(({ id, parties, asset, amount, clientId }) => {
    if (parties.kind === "deposit") return [];
    // What is missing is recorded by nobody's request. Nothing is, unless the database has forgotten payments.
    if (clientId === null)
      return kind === "rewound" ? [] : [`${amount} ${asset.code} were recorded as missing, and are not`];
    const own = done.filter(({ intent }) => intent?.transactionId === id);
    const paid = own.filter(
      ({ intent, transfers }) => intent?.purpose !== "cancellation" && transfers.length > 0,
    );
    const state = states.get(id)?.state ?? "accepted";
    const faults: string[] = [];
    const isForgotten = givenUp.has(id) && state === "cancelled" && paid.length === 1;
    // A signature may be older than the backup that a cancellation was requested in.
    if (kind !== "rewound" && neverPaid.has(id) && paid.length > 0)
      faults.push(`the payment ${id} was paid, and was stopped before anything was signed`);
    if (own.length > 1) faults.push(`${own.length} transactions on the chain are for ${id}`);
    if ((state === "completed") !== (paid.length === 1) && !isForgotten)
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
function auditDeposits(world: ChainWorld): string[] {
  const { completed, failed } = readDeposits(world);
  const { single } = arrivalsOf(world);
  // What a lie has changed is another deposit afterwards. That the transfer is credited once is demanded below.
  const lasting = world.kind === "lying" || world.kind === "outvoted" ? [] : failed;
  const faults = lasting.flatMap(({ reference, name, amount }) =>
    single.has(`${reference} ${name} ${amount}`)
      ? [`the deposit ${reference} of ${amount} is on the chain and has failed`]
      : [],
  );
  const ours = new Set(executedOn(world).flatMap(({ hash, intent }) => (intent === undefined ? [] : [hash])));
  // A database that has forgotten an attempt takes what it pays for a deposit.
  const isSure = (reference: string) => world.kind !== "rewound" || !ours.has(reference);
  const credited = countBy(
    // A sum of small transfers has the hash of the last of them, and can be as large as another one in it.
    completed
      .filter(({ isSum, reference }) => !isSum && isSure(reference))
      .map((one) => `${one.reference} ${one.name} ${one.amount}`),
  );
  for (const name of new Set([...single.keys(), ...credited.keys()]))
    if (isSure(name.split(" ")[0] ?? "") && single.get(name) !== credited.get(name))
      faults.push(
        `the transfer ${name} was credited ${credited.get(name) ?? 0} times, and is ${single.get(name) ?? 0} times on the chain`,
      );
  return faults;
}

/**
 * What is too small for a deposit, or shown by no block, is gathered, and credited as a sum. All that has arrived was credited once or is
 * still gathered, and each sum has the hash of a small transfer that no other sum has.
 */
function auditSums(world: ChainWorld): string[] {
  if (world.kind === "rewound") return [];
  const sums = readDeposits(world).completed.filter(({ isSum }) => isSum);
  const { gathered, small } = arrivalsOf(world);
  const faults: string[] = [];
  const names = countBy(sums.filter(({ hash }) => hash !== null).map(({ hash, name }) => `${hash} ${name}`));
  for (const [name, count] of names)
    if (count > 1 || !small.has(name))
      faults.push(`a sum was credited ${count} times for the small transfer ${name}`);
  const kept = rowsOf(world.database, chainHoldings);
  for (const { walletId } of world.wallets)
    for (const asset of [modelCoin, usdc, falseToken]) {
      const name = `${walletId} ${asset}`;
      const credited = sums.reduce((sum, one) => (one.name === name ? sum + one.amount : sum), 0n);
      const left = kept.find((one) => one.walletId === walletId && one.asset === asset)?.gathered ?? 0n;
      const arrived = gathered.get(name) ?? 0n;
      if (credited + left !== arrived)
        faults.push(
          `${arrived} were to be gathered for ${name}; ${credited} were credited as sums, ${left} are left`,
        );
    }
  return faults;
}

interface AuditedDeposit {
  /** The wallet and the asset. */
  name: string;
  amount: bigint;
  reference: string;
  /** Of a sum that has one. */
  hash: string | null;
  isSum: boolean;
}

function readDeposits({ database }: ChainWorld): Record<"completed" | "failed", AuditedDeposit[]> {
  const states = lastStates(database);
  const found: Record<"completed" | "failed", AuditedDeposit[]> = { completed: [], failed: [] };
  for (const { id, idempotencyKey, reference, asset, amount, parties } of rowsOf(database, transactions)) {
    const state = states.get(id)?.state;
    if (parties.kind !== "deposit" || (state !== "completed" && state !== "failed")) continue;
    const { destination } = parties;
    const isGathered = idempotencyKey.includes(" gathered ");
    found[state].push({
      ...{
        name: `${"walletId" in destination ? destination.walletId : ""} ${asset.code}`,
        amount,
        reference,
      },
      ...{ hash: isGathered ? reference : null, isSum: isGathered || idempotencyKey.includes(" balance ") },
    });
  }
  return found;
}

/** What outsiders have paid to the wallets, from the chain alone. */
function arrivalsOf(world: ChainWorld) {
  const accepted = rowsOf(world.database, transactions);
  const singles: string[] = [];
  const small = new Set<string>();
  const gathered = new Map<string, bigint>();
  const gather = (name: string, amount: bigint) => gathered.set(name, (gathered.get(name) ?? 0n) + amount);
  for (const { hash, intent, transfers, hidden, success } of executedOn(world)) {
    if (!success) continue;
    const payer = accepted.find(({ id }) => id === intent?.transactionId)?.tenantId;
    const walletOf = (address: string) =>
      world.wallets.find((one) => one.address === address && one.tenantId !== payer)?.walletId;
    for (const { to, asset, amount } of transfers) {
      const walletId = walletOf(to);
      if (walletId === undefined || amount === 0n) continue;
      const name = `${walletId} ${asset}`;
      if (amount >= (modelChainNetwork.depositMinimum.get(asset) ?? 0n))
        singles.push(`${hash} ${name} ${amount}`);
      else {
        small.add(`${hash} ${name}`);
        gather(name, amount);
      }
    }
    for (const { to, asset, amount } of hidden) gather(`${walletOf(to)} ${asset}`, amount);
  }
  return { single: countBy(singles), small, gathered };
}

function executedOn({ chain }: ChainWorld) {
  return chain.blocks().flatMap((block) => block.transactions);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
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
  if ((database.tables.get(openTransactions.name)?.size ?? 0) > 0) return true;
  return rowsOf(database, chainWallets).some(({ haltedReason }) => haltedReason !== null);
}
