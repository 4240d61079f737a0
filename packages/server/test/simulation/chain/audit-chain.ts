import { balanceOf, falseToken, modelCoin } from "../../harness/chain/model-chain.js";
import { modelChainNetwork } from "../../harness/chain/model-network.js";
import { chainHoldings, chainPayments, chainWallets, networks } from "../database/simulated-chain-tables.js";
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
    ...(world.gapsSent() > 0 ? [`${world.gapsSent()} nonces were sent before the one before them`] : []),
    ...auditPayments(world),
    ...auditWallets(world),
    ...auditDeposits(world),
    ...auditSums(world),
  ];
}

/** After the database went back in time, a wallet that the chain is ahead of must halt. */
function auditHalts(world: ChainWorld): string[] {
  const wallets = world.isRewound() ? [] : rowsOf(world.database, chainWallets);
  const halted = [...rowsOf(world.database, networks), ...wallets];
  return halted.flatMap(({ haltedReason }) => (haltedReason === null ? [] : [`halted: ${haltedReason}`]));
}

/** The wallets that are left to the operator. */
function haltedWallets({ database }: Pick<ChainWorld, "database">): ReadonlySet<string> {
  const halted = rowsOf(database, chainWallets).filter(({ haltedReason }) => haltedReason !== null);
  return new Set(halted.map(({ walletId }) => walletId));
}

function auditPayments({ database, chain, neverPaid }: ChainWorld): string[] {
  const halted = haltedWallets({ database });
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
    if (neverPaid.has(id) && paid.length > 0)
      faults.push(`the payment ${id} was paid, and was stopped before anything was signed`);
    if (own.length > 1) faults.push(`${own.length} transactions on the chain are for ${id}`);
    // What became of its payments cannot be known from the database alone.
    if ("walletId" in parties.source && halted.has(parties.source.walletId)) return faults;
    if ((state === "completed") !== (paid.length === 1))
      faults.push(`the payment ${id} in ${asset.code} is ${state} and was paid ${paid.length} times`);
    if (["accepted", "processing", "broadcast", "confirming"].includes(state))
      faults.push(`the payment ${id} is still ${state}`);
    return faults;
  });
}

function auditWallets({ database, chain, wallets }: ChainWorld): string[] {
  const { balances, nonces } = chain.final();
  const halted = haltedWallets({ database });
  return wallets.flatMap(({ tenantId, walletId, address }) => {
    if (halted.has(walletId)) return [];
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
  const { singles } = arrivalsOf(world);
  const mayMiss = world.mayMissDeposits();
  const onChain = new Set(executedOn(world).map(({ hash }) => hash));
  const faults = failed.flatMap(({ hash }) =>
    onChain.has(hash) && !mayMiss ? [`the deposit ${hash} is on the chain and has failed`] : [],
  );
  // A sum of small transfers has the hash of the last of them, and can be as large as another one in it.
  const credited = countBy(completed.filter(({ isSum }) => !isSum).map(nameOf));
  const arrived = countBy(singles.map(nameOf));
  for (const name of new Set([...arrived.keys(), ...credited.keys()])) {
    const [books = 0, chain = 0] = [credited.get(name), arrived.get(name)];
    if (books > chain || (books < chain && !mayMiss))
      faults.push(`the transfer ${name} was credited ${books} times, and is ${chain} times on the chain`);
  }
  return faults;
}

/**
 * What is too small for a deposit, or shown by no block, is gathered, and credited as a sum. All that has arrived was credited once or is
 * still gathered, and each sum has the hash of a small transfer that no other sum has.
 */
function auditSums(world: ChainWorld): string[] {
  const { completed } = readDeposits(world);
  const { singles, gathered, small } = arrivalsOf(world);
  // What was missed is found by its balance, so it is gathered too.
  const isGathered = world.mayMissDeposits() ? () => true : ({ isSum }: AuditedDeposit) => isSum;
  const expected = world.mayMissDeposits() ? [...gathered, ...singles] : gathered;
  const hashes = completed.filter(({ hasHash }) => hasHash).map(({ hash, name }) => `${hash} ${name}`);
  const faults = [...countBy(hashes)].flatMap(([name, count]) =>
    count > 1 || !small.has(name) ? [`a sum was credited ${count} times for the small transfer ${name}`] : [],
  );
  const halted = haltedWallets(world);
  for (const { walletId } of world.wallets.filter((one) => !halted.has(one.walletId)))
    for (const asset of [modelCoin, usdc, falseToken]) {
      const name = `${walletId} ${asset}`;
      const sumOf = (list: readonly { name: string; amount: bigint }[]) =>
        list.reduce((sum, one) => (one.name === name ? sum + one.amount : sum), 0n);
      const arrived = sumOf(expected);
      const credited = sumOf(completed.filter(isGathered));
      const left = sumOf(
        rowsOf(world.database, chainHoldings).map((one) => ({
          ...{ name: `${one.walletId} ${one.asset}`, amount: one.gathered },
        })),
      );
      if (credited + left !== arrived)
        faults.push(
          `${arrived} of ${name} were to be gathered, ${credited} were credited as sums, and ${left} are left`,
        );
    }
  return faults;
}

interface Arrival {
  hash: string;
  /** The wallet and the asset. */
  name: string;
  amount: bigint;
}

interface AuditedDeposit extends Arrival {
  /** Of several small transfers, or of what no block shows, which has no hash. */
  isSum: boolean;
  hasHash: boolean;
}

const nameOf = ({ hash, name, amount }: Arrival) => `${hash} ${name} ${amount}`;

function readDeposits({ database }: ChainWorld): Record<"completed" | "failed", AuditedDeposit[]> {
  const states = lastStates(database);
  const found: Record<"completed" | "failed", AuditedDeposit[]> = { completed: [], failed: [] };
  for (const { id, idempotencyKey: key, reference: hash, asset, amount, parties } of rowsOf(
    database,
    transactions,
  )) {
    const state = states.get(id)?.state;
    if (parties.kind !== "deposit" || (state !== "completed" && state !== "failed")) continue;
    const { destination } = parties;
    const name = `${"walletId" in destination ? destination.walletId : ""} ${asset.code}`;
    const hasHash = key.includes(" gathered ");
    found[state].push({ hash, name, amount, hasHash, isSum: hasHash || key.includes(" balance ") });
  }
  return found;
}

/** What outsiders have paid to the wallets, from the chain alone. */
function arrivalsOf(world: ChainWorld) {
  const accepted = rowsOf(world.database, transactions);
  const singles: Arrival[] = [];
  const gathered: Arrival[] = [];
  const small = new Set<string>();
  for (const { hash, intent, transfers, hidden, success } of executedOn(world)) {
    if (!success) continue;
    const payer = accepted.find(({ id }) => id === intent?.transactionId)?.tenantId;
    const walletOf = (address: string) =>
      world.wallets.find((one) => one.address === address && one.tenantId !== payer)?.walletId;
    for (const { to, asset, amount } of transfers) {
      const walletId = walletOf(to);
      if (walletId === undefined || amount === 0n) continue;
      const arrival = { hash, name: `${walletId} ${asset}`, amount };
      const isSmall = amount < (modelChainNetwork.depositMinimum.get(asset) ?? 0n);
      (isSmall ? gathered : singles).push(arrival);
      if (isSmall) small.add(`${hash} ${arrival.name}`);
    }
    for (const { to, asset, amount } of hidden)
      gathered.push({ hash, name: `${walletOf(to)} ${asset}`, amount });
  }
  return { singles, gathered, small };
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

export function isAnythingOpen(world: ChainWorld): boolean {
  const halted = haltedWallets(world);
  const payments = new Map(rowsOf(world.database, chainPayments).map(({ id, walletId }) => [id, walletId]));
  return rowsOf(world.database, openTransactions).some(({ id }) => !halted.has(payments.get(id) ?? ""));
}
