import type { ModelChain } from "../../harness/chain/model-chain.js";
import {
  type ChainWalletRow,
  chainBlocks,
  chainPayments,
  chainWallets,
  networks,
  numberKey,
} from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import type { Rows } from "../database/simulated-rows.js";
import { keyOf, openTransactions } from "../database/simulated-tables.js";
import type { Random } from "../world/random.js";
import type { Actor, Scheduler } from "../world/scheduler.js";

interface OperatorDeps {
  database: SimulatedDatabase;
  chain: ModelChain;
  scheduler: Scheduler;
  random: Random;
  /** Does it. */
  actor: Actor;
  /** Waits. It is never killed. */
  outside: Actor;
  count: (what: string) => void;
  /** Repeats what the world has made fail. */
  insist: <T>(work: () => Promise<T>) => Promise<T>;
  /** Whether it looks for waiting payments on the chain before they are paid. */
  looksAtChain: boolean;
  /** Payments that are on the chain, and that it has seen to be cancelled, by itself or a client, before the wallet went on. */
  givenUp: Set<string>;
}

/** Looks from time to time whether something is halted, and continues it, as `store/chain/resume-chain.ts` does. */
export function startOperator(deps: OperatorDeps): void {
  const { database, scheduler, random, actor, outside, insist } = deps;
  const work = () =>
    database.query(actor, "the operator's commands", async (rows) => {
      await resumeNetworks(deps, rows);
      for (const { tenantId, walletId } of rows.all(chainWallets)) {
        const key = keyOf(tenantId, walletId);
        if (rows.get(chainWallets, key)?.haltedReason === null) continue;
        await rows.lock(chainWallets, key);
        const wallet = rows.get(chainWallets, key);
        if (wallet === undefined || wallet.haltedReason === null || wallet.statedNonce !== null) continue;
        if (deps.looksAtChain && (await cancelPaid(deps, rows, wallet))) continue;
        if (wallet.haltedReason.includes(holdsMissing)) await cancelHolding(deps, rows, wallet);
        const statedNonce = deps.chain.final().nonces.get(wallet.address) ?? 0;
        deps.count("adoptions");
        rows.put(chainWallets, key, { ...wallet, statedNonce, comparedNumber: -1 });
      }
    });
  const look = () => {
    scheduler.after(outside, random.between(200, 1200), "an operator", look);
    void insist(work);
  };
  look();
}

async function resumeNetworks({ count }: OperatorDeps, rows: Rows): Promise<void> {
  for (const { network } of rows.all(networks)) {
    await rows.lock(networks, network);
    const row = rows.get(networks, network);
    if (row === undefined || row.haltedReason === null) continue;
    count("network halts");
    rows.put(networks, network, { ...row, haltedReason: null });
    for (const { number } of rows.all(chainBlocks)) rows.remove(chainBlocks, numberKey(number));
  }
}

/** Of the reason that a wallet is halted for if what is missing on the chain is held for payments. */
const holdsMissing = "Cancel payments that hold some";

/** Cancels the first payment that waits, as the reason of the halt asks for. The next one follows if that was not enough. */
async function cancelHolding(
  { count }: OperatorDeps,
  rows: Rows,
  { walletId }: ChainWalletRow,
): Promise<void> {
  for (const { tenantId, id, stage, ...payment } of rows.all(chainPayments)) {
    if (stage !== "ready" || payment.walletId !== walletId) continue;
    if (!(await requestCancel(rows, tenantId, id))) continue;
    count("holding payments cancelled");
    return;
  }
}

/** Returns whether nobody had requested it before. */
async function requestCancel(rows: Rows, tenantId: string, id: string): Promise<boolean> {
  const key = keyOf(tenantId, id);
  await rows.lock(openTransactions, key);
  const open = rows.get(openTransactions, key);
  if (open === undefined || open.cancelRequested) return false;
  rows.put(openTransactions, key, { ...open, cancelRequested: true });
  return true;
}

/** Cancels what waits and is on the chain. Returns whether there was some. What is to be cancelled ends when the wallet is adopted. */
async function cancelPaid(
  { chain, givenUp, count }: OperatorDeps,
  rows: Rows,
  { walletId }: ChainWalletRow,
): Promise<boolean> {
  const executed = chain.blocks().flatMap(({ transactions }) => transactions);
  const onChain = new Set(executed.map(({ intent }) => intent?.transactionId));
  const waiting = rows
    .all(chainPayments)
    .filter((one) => one.stage === "ready" && one.walletId === walletId && onChain.has(one.id));
  let isCancelling = false;
  for (const { tenantId, id } of waiting) {
    givenUp.add(id);
    if (!(await requestCancel(rows, tenantId, id))) continue;
    count("waiting payments on the chain");
    isCancelling = true;
  }
  return isCancelling;
}
