import { createUuidV7Source } from "@bursar/domain";
import { NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { ChainMovedError } from "../../../src/app/chain/chain-store.js";
import { InheritedBlocksError } from "../../../src/rails/evm/driver/confirm-inherited.js";
import { createEvmDriver, type EvmDriver } from "../../../src/rails/evm/driver/evm-driver.js";
import { verifyModelBytes } from "../../harness/chain/model-bytes.js";
import { createModelChain, type ModelChain } from "../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork, modelNetwork } from "../../harness/chain/model-network.js";
import { createModelNode } from "../../harness/chain/model-node.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { createSimulatedChainStore } from "../database/simulated-chain-store.js";
import { chainBlocks, type NetworkRow, networks, numberKey } from "../database/simulated-chain-tables.js";
import { createSimulatedDatabase, type SimulatedDatabase } from "../database/simulated-database.js";
import { openTransactions } from "../database/simulated-tables.js";
import { isInjected } from "../world/present-answers.js";
import { createRandom, type Random } from "../world/random.js";
import { noFaults } from "../world/scenario.js";
import { type Actor, createScheduler, type Scheduler } from "../world/scheduler.js";
import type { ChainBug } from "./chain-bugs.js";
import { createChainClients } from "./chain-clients.js";
import { stopForAWhile } from "./chain-stops.js";
import { type OwnWallet, openWallets } from "./chain-wallets.js";
import { createLyingNodes } from "./lying-nodes.js";

/** Processes that drive one network over one database, a chain and a signer outside of them, and all that goes wrong in between. */
export interface ChainWorld {
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
  /** Whether the database went back in time. Then wallets may halt, and what was committed may be unknown. */
  isRewound: () => boolean;
  /**
   * Whether deposits may be found by comparing balances only: a node left them out, or the database does not know any more that the network
   * was followed before. What a node forged has failed.
   */
  mayMissDeposits: () => boolean;
  /** How often a nonce was sent too early in the last part of the run, when nothing fails any more. */
  gapsSent: () => number;
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
/** Without a pool, some payments come when everything before has been sent again. */
const restMs = 4000;
const resumeEveryMs = 500;
const latePayments = 8;

/** As `bursar network resume` does: the driver begins again at the settled block. */
function resumeNetwork(database: SimulatedDatabase, actor: Actor): Promise<void> {
  return database.transaction(actor, (run) =>
    run("resume", async (rows) => {
      await rows.lock(networks, modelNetwork);
      const row = rows.get(networks, modelNetwork);
      if (row !== undefined) rows.put(networks, modelNetwork, { ...row, haltedReason: null });
      for (const { number } of rows.all(chainBlocks)) rows.remove(chainBlocks, numberKey(number));
    }),
  );
}

function openRows({ tables }: SimulatedDatabase) {
  return [...(tables.get(openTransactions.name)?.values() ?? [])] as {
    tenantId: string;
    id: string;
    state: string;
  }[];
}

export function createChainWorld(
  seed: number,
  bug: ChainBug | undefined,
  trace: (line: string) => void,
): ChainWorld {
  const random = createRandom(seed);
  const scheduler = createScheduler(random, trace);
  const outside: Actor = { name: "outside", isAlive: true };
  /** What is different about this world. */
  const kind = random.pick(["usual", "usual", "usual", "without a pool", "rewound", "lying nodes"] as const);
  const hasPool = kind !== "without a pool";
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
  let signer = createModelSigner(async () => undefined);
  const drivers = new Map<Actor, EvmDriver>();
  let isRewound = false;
  let isForgotten = false;
  let gapsBefore = Number.POSITIVE_INFINITY;
  const liar = random.between(0, 1);
  const newUuid = createUuidV7Source({ now: scheduler.now, randomBytes: random.bytes });
  let processes = 0;

  const report = (error: unknown) => {
    // A lie is noticed when the second node is asked: by the process that has read it, or by the one that comes after it.
    const isLie =
      error instanceof InheritedBlocksError || String(error).includes("and another node disagree");
    const isCaused =
      (kind === "lying nodes" && isLie) ||
      isInjected(error) ||
      error instanceof NodeUnavailableError ||
      error instanceof ChainMovedError;
    if (!isCaused) errors.push(String(error));
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
    // Without a pool, a load balancer gives the parts of a batch to different nodes.
    const order = hasPool ? (bytes: readonly string[]) => bytes : random.shuffle;
    const timers = {
      after: (delayMs: number, work: () => void) => scheduler.after(actor, delayMs, "timer", work),
    };
    const trustsOneNode = bug?.trustsOneNode === true;
    const node =
      kind === "lying nodes"
        ? createLyingNodes({
            ...{ chain, reach, isAnswerLost, lag, wouldRevert, random, liar, trustsOneNode, timers },
            ...{ isLying: () => !isHealed, onLie: () => count("lies"), monotonicMs: scheduler.now },
          })
        : createModelNode({ chain, reach, isAnswerLost, lag, wouldRevert, order });
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
      network: { ...modelChainNetwork, hasPool, ...bug?.network },
      node: bug?.node?.(node, around) ?? node,
      signer: bug?.signer?.(disguisedSigner, around) ?? disguisedSigner,
      store: bug?.store?.(store, around) ?? store,
      recorder: { assets: modelAssets, newUuid, now: scheduler.now, onChanged: () => undefined },
      verifySigned: verifyModelBytes,
      ...{ holder: newUuid(), leaseMs, pollEveryMs: 50, onError: report, onLost: () => count("leases lost") },
      onCompared: (failure) => failure !== undefined && report(failure),
      monotonicMs: scheduler.now,
      timers,
    });
    driver.start();
    drivers.set(actor, driver);
    if (isHealed || random.chance(0.4)) return;
    scheduler.after(outside, random.between(200, 6000), "a kill", () => {
      if (isHealed) return;
      count("kills");
      actor.isAlive = false;
      drivers.delete(actor);
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

  const cancelsAtOnce = bug?.cancelsAtOnce === true;
  const clients = createChainClients({
    ...{ chain, database, scheduler, random, wallets, outside, newUuid, count, report, cancelsAtOnce },
    onNeverPaid: (id) => neverPaid.add(id),
    retryEveryMs: blockEveryMs,
  });
  const { pay, deposit, begin } = clients;

  /** A backup is restored, and with it that of the signer, or not. What was accepted is processed again. */
  function rewind(): void {
    isRewound = true;
    // Those who cancelled were answered by a database that does not know it any more.
    neverPaid.clear();
    count("rewinds");
    database.rewind(random.between(3, 80));
    isForgotten ||= (database.tables.get(networks.name)?.size ?? 0) === 0;
    if (random.chance(0.5)) signer = createModelSigner(async () => undefined);
    for (const driver of drivers.values()) driver.reset();
    for (const { tenantId, id, state } of openRows(database))
      if (state === "accepted") void begin(tenantId, id).catch(report);
  }
  /** Of two nodes that contradict each other nobody can say which one lies, so a person does, and resumes the network. */
  function resume(): void {
    if (!isHealed) scheduler.after(outside, resumeEveryMs, "an operator", resume);
    const halted = [...(database.tables.get(networks.name)?.values() ?? [])] as NetworkRow[];
    if (halted.every(({ haltedReason }) => haltedReason === null)) return;
    count("resumed networks");
    void resumeNetwork(database, outside).catch(() => scheduler.after(outside, 1, "an operator", resume));
  }
  if (kind === "lying nodes") scheduler.after(outside, resumeEveryMs, "an operator", resume);
  if (kind === "rewound") scheduler.after(outside, random.between(1000, 6000), "a rewind", rewind);

  for (let process = random.between(1, 2); process > 0; process--) startProcess();
  scheduler.after(outside, blockEveryMs, "a block", mine);
  return {
    ...{ chain, database, scheduler, random, wallets, outside, errors, counts, neverPaid, pay, deposit },
    stop: () => stopForAWhile({ ...clients, database, scheduler, random, wallets, outside, count }),
    isHealed: () => isHealed,
    isRewound: () => isRewound,
    mayMissDeposits: () => kind === "lying nodes" || isForgotten,
    gapsSent: () => Math.max(0, chain.gapsRefused() - gapsBefore),
    heal: () => {
      isHealed = true;
      if (!hasPool) {
        scheduler.after(outside, restMs, "nothing fails", () => {
          gapsBefore = chain.gapsRefused();
        });
        for (let payment = 0; payment < latePayments; payment++)
          scheduler.after(outside, restMs + 100, "a late payment", () => void pay().catch(report));
      }
      chain.setBaseFee(100n);
      if (kind === "lying nodes") scheduler.after(outside, resumeEveryMs, "an operator", resume);
      startProcess();
    },
  };
}
