import { createUuidV7Source, decideOnBalances } from "@bursar/domain";
import { NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { ChainMovedError } from "../../../src/app/chain/chain-store.js";
import { accountsOf } from "../../../src/app/transactions/settlement.js";
import { createEvmDriver } from "../../../src/rails/evm/driver/evm-driver.js";
import { createModelChain, type ModelChain, verifyModelBytes } from "../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork } from "../../harness/chain/model-network.js";
import { createModelNode } from "../../harness/chain/model-node.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { createSimulatedChainStore } from "../database/simulated-chain-store.js";
import { chainPayments, networks } from "../database/simulated-chain-tables.js";
import { createSimulatedDatabase, type SimulatedDatabase } from "../database/simulated-database.js";
import { createSimulatedSettlementStore } from "../database/simulated-settlement.js";
import { keyOf } from "../database/simulated-tables.js";
import { createSimulatedTransactionStore } from "../database/simulated-transactions.js";
import { isInjected } from "../world/present-answers.js";
import { createRandom, type Random } from "../world/random.js";
import { noFaults } from "../world/scenario.js";
import { type Actor, createScheduler, type Scheduler } from "../world/scheduler.js";
import type { ChainBug } from "./chain-bugs.js";
import { startOperator } from "./chain-operator.js";
import { isUnsigned, stopForAWhile } from "./chain-stops.js";
import { drawDeposit, drawPayment, type OwnWallet, openWallets } from "./chain-wallets.js";
import { type ChainWorldKind, expectedErrors } from "./chain-worlds.js";
import { withALiar } from "./lying-node.js";

/** Processes that drive one network over one database, a chain and a signer outside of them, and all that goes wrong in between. */
export interface ChainWorld {
  kind: ChainWorldKind;
  chain: ModelChain;
  database: SimulatedDatabase;
  scheduler: Scheduler;
  random: Random;
  wallets: readonly OwnWallet[];
  /** Never killed. */
  outside: Actor;
  heal: () => void;
  isHealed: () => boolean;
  /** Errors that nothing in the world has caused. */
  errors: string[];
  counts: Record<string, number>;
  /** Payments that were cancelled before anything was signed for them. */
  neverPaid: Set<string>;
  pay: () => Promise<void>;
  /** Freezes a wallet or suspends a tenant, for a while. */
  stop: () => Promise<void>;
  deposit: () => void;
}

const leaseMs = 1000;
const blockEveryMs = 200;

export interface ChainWorldOptions {
  kind: ChainWorldKind;
  bug?: ChainBug | undefined;
  trace: (line: string) => void;
}

export function createChainWorld(seed: number, { kind, bug, trace }: ChainWorldOptions): ChainWorld {
  const random = createRandom(seed);
  const scheduler = createScheduler(random, trace);
  const outside: Actor = { name: "outside", isAlive: true };
  const hasPool = kind !== "poolless";
  const chain = createModelChain({ hasPool });
  const errors: string[] = [];
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const neverPaid = new Set<string>();
  let isHealed = false;
  const sometimes = (most: number) => (random.chance(0.5) ? random.next() * most : 0);
  const rates = { refused: sometimes(0.05), cut: sometimes(0.05), answerLost: sometimes(0.1) };
  const nodeFaults = sometimes(0.1);
  const stalls = sometimes(0.02);
  const database = createSimulatedDatabase({
    ...{ scheduler, random, rates: () => (isHealed ? noFaults : rates) },
    disguise: (rows) => rows,
  });
  const wallets = openWallets(database, chain, random, scheduler.now());
  const signer = createModelSigner(async () => undefined);
  const newUuid = createUuidV7Source({ now: scheduler.now, randomBytes: random.bytes });
  let processes = 0;

  const report = (error: unknown) => {
    const isCaused =
      isInjected(error) || error instanceof NodeUnavailableError || error instanceof ChainMovedError;
    const isExpected = expectedErrors[kind].some((one) => one.test(String(error)));
    if (!isCaused && !isExpected) errors.push(String(error));
  };

  function startProcess(): void {
    processes += 1;
    const actor: Actor = { name: `driver ${processes}`, isAlive: true };
    const reach = async (what: string) => {
      const isStalled = !isHealed && random.chance(stalls);
      if (isStalled) count("stalls");
      await (isStalled ? scheduler.turn(actor, `stalls at ${what}`, 3000) : scheduler.turn(actor, what));
      if (!isHealed && random.chance(nodeFaults)) {
        count("nodes away");
        throw new NodeUnavailableError("no node answers");
      }
    };
    const isAnswerLost = () => !isHealed && random.chance(nodeFaults);
    const wouldRevert = (destination: string) => destination.endsWith("dead");
    const lag = () => (!isHealed && random.chance(0.1) ? random.between(1, 3) : 0);
    const around = { chain, random, database, isHealed: () => isHealed };
    const honest = createModelNode({ chain, reach, isAnswerLost, lag, wouldRevert });
    const isLying = () => !isHealed;
    const lying = { chain, random, wallets, isLying, count, asksBoth: bug?.believesOneNode !== true };
    const node = kind === "lying" ? withALiar(honest, lying) : honest;
    const store = createSimulatedChainStore(database, actor);
    const reachSigner = async (...given: Parameters<typeof signer.sign>) => {
      const isSlow = !isHealed && random.chance(0.1);
      await scheduler.turn(actor, "sign", isSlow ? random.between(100, 2000) : undefined);
      const signed = await signer.sign(...given);
      await scheduler.turn(actor, "signed");
      return signed;
    };
    const disguisedSigner = { sign: reachSigner };
    const driver = createEvmDriver({
      network: { ...modelChainNetwork, hasPool },
      node: bug?.node?.(node, around) ?? node,
      signer: bug?.signer?.(disguisedSigner, around) ?? disguisedSigner,
      store: bug?.store?.(store, around) ?? store,
      recorder: { assets: modelAssets, newUuid, now: scheduler.now, onChanged: () => undefined },
      ...{ verifySigned: verifyModelBytes, isUnavailable: isInjected },
      ...{ holder: newUuid(), leaseMs, pollEveryMs: 50, onError: report, onLost: () => count("leases lost") },
      onCompared: (failure) => failure !== undefined && report(failure),
      monotonicMs: scheduler.now,
      timers: { after: (delayMs, work) => scheduler.after(actor, delayMs, "timer", work) },
    });
    driver.start();
    if (isHealed || random.chance(0.4)) return;
    scheduler.after(outside, random.between(200, 6000), "a kill", () => {
      if (isHealed) return;
      count("kills");
      actor.isAlive = false;
      database.breakConnections(actor);
      scheduler.after(outside, random.between(10, 500), "a start", startProcess);
    });
  }

  function mine(): void {
    scheduler.after(outside, blockEveryMs, "a block", mine);
    if (!isHealed && random.chance(0.08)) {
      const depth = random.between(1, 4);
      count("reorganisations");
      const kept = chain.blocks().length - depth;
      const isSafe = kept > chain.final().number;
      if (isSafe) {
        chain.reorganise(depth, ({ intent }) => random.chance(intent === undefined ? 0.8 : 0.6));
        for (let block = 0; block <= depth; block++) mineOne();
        return;
      }
    }
    if (!isHealed && random.chance(0.05)) chain.setBaseFee(BigInt(random.between(50, 2500)));
    for (const { hash, intent } of chain.pool())
      if (!isHealed && intent !== undefined && random.chance(0.05)) chain.drop(hash);
    mineOne();
  }

  const mineOne = () => chain.mine((_, isReplaced) => random.chance(isReplaced ? 0.1 : 0.7));

  const engine: Actor = { name: "engine", isAlive: true };
  const settlements = createSimulatedSettlementStore(database, engine);
  const transactions = createSimulatedTransactionStore(database, engine, { generation: () => 0 });

  /** Repeats what the world has made fail. */
  async function insist<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isInjected(error)) throw error;
      }
    }
  }

  async function pay(): Promise<void> {
    const source = random.pick(wallets);
    const accepted = drawPayment(source, wallets, random, newUuid(), scheduler.now());
    const { tenantId, id } = accepted;
    await insist(() => transactions.acceptTransactions([accepted]));
    if (random.chance(0.12)) chain.revert(id);
    await insist(() => begin(tenantId, id));
    if (random.chance(0.25))
      scheduler.after(outside, random.between(1, 1500), "a cancellation", () => void cancel(tenantId, id));
    if (random.chance(0.15))
      scheduler.after(outside, random.between(1, 1500), "a speed-up", () => void speedUp(tenantId, id));
  }

  const begin = (tenantId: string, id: string) =>
    settlements.unitOfWork(async (unit) => {
      const [claimed] = await unit.claimAgain([{ tenantId, id }]);
      if (claimed === undefined) return;
      const balances = await unit.lockAccounts(accountsOf([claimed]));
      const begun = decideOnBalances(claimed, { kind: "begin" }, balances);
      const failure = { kind: "fail", failure: "INSUFFICIENT_FUNDS", fee: null } as const;
      const decision = typeof begun === "string" ? decideOnBalances(claimed, failure, balances) : begun;
      if (typeof decision === "string") throw new Error(`beginning is ${decision}`);
      const occurredAt = new Date(scheduler.now());
      await unit.write(
        [{ transaction: claimed, decision, occurredAt, dueAt: null, judgement: null }],
        balances,
      );
    });

  async function cancel(tenantId: string, id: string): Promise<void> {
    count("cancellations");
    const isStopped = await insist(() =>
      settlements.unitOfWork(async (unit) => {
        const claimed = await unit.claimPayment({ tenantId, id });
        if (claimed === undefined) return false;
        if (bug?.cancelsAtOnce !== true || claimed.state === "confirming") {
          await unit.requestCancel({ tenantId, id }, tenantId);
          // Its row is locked, so that no bytes are stored for it meanwhile.
          return isUnsigned(database, tenantId, id);
        }
        const balances = await unit.lockAccounts(
          [
            ...accountsOf([claimed]),
            ...(claimed.feeHold === null
              ? []
              : [{ tenantId, accountId: claimed.sourceAccountId, asset: claimed.feeHold.asset }]),
          ].filter(
            (one, index, all) =>
              all.findIndex((key) => key.accountId === one.accountId && key.asset === one.asset) === index,
          ),
        );
        const decision = decideOnBalances(claimed, { kind: "cancel", fee: null }, balances);
        if (typeof decision === "string") return false;
        const occurredAt = new Date(scheduler.now());
        await unit.write(
          [{ transaction: claimed, decision, occurredAt, dueAt: null, judgement: null }],
          balances,
        );
        return false;
      }),
    ).catch(report);
    if (isStopped === true) neverPaid.add(id);
  }

  const speedUp = (tenantId: string, id: string) =>
    insist(() =>
      database.query(engine, "speed up", async (rows) => {
        const row = rows.get(chainPayments, keyOf(tenantId, id));
        if (row?.stage !== "signed") return;
        await rows.lock(chainPayments, keyOf(tenantId, id));
        const current = rows.get(chainPayments, keyOf(tenantId, id));
        if (current?.stage !== "signed") return;
        count("speed-ups");
        rows.put(chainPayments, keyOf(tenantId, id), { ...current, speedUpRequested: true });
      }),
    );

  function deposit(): void {
    // A network begins at its final block, before anything is paid on it.
    if ((database.tables.get(networks.name)?.size ?? 0) === 0) {
      scheduler.after(outside, blockEveryMs, "a deposit", deposit);
      return;
    }
    const { transfers, hidden } = drawDeposit(wallets, random);
    chain.pay(transfers, hidden);
  }

  if (kind === "lying") startOperator({ database, scheduler, random, actor: engine, outside, count, insist });
  for (let process = random.between(1, 2); process > 0; process--) startProcess();
  scheduler.after(outside, blockEveryMs, "a block", mine);
  return {
    ...{
      kind,
      chain,
      database,
      scheduler,
      random,
      wallets,
      outside,
      errors,
      counts,
      neverPaid,
      pay,
      deposit,
    },
    stop: () =>
      stopForAWhile({ database, scheduler, random, wallets, actor: engine, outside, count, insist }),
    isHealed: () => isHealed,
    heal: () => {
      isHealed = true;
      chain.setBaseFee(100n);
      startProcess();
    },
  };
}
