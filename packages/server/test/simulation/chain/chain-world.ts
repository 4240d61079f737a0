import { createUuidV7Source } from "@bursar/domain";
import { type ChainNode, NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { ChainMovedError } from "../../../src/app/chain/chain-store.js";
import { createEvmDriver } from "../../../src/rails/evm/driver/evm-driver.js";
import {
  createModelChain,
  type ModelChain,
  modelCoin,
  verifyModelBytes,
} from "../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork } from "../../harness/chain/model-network.js";
import { createModelNode } from "../../harness/chain/model-node.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { createSimulatedChainStore } from "../database/simulated-chain-store.js";
import { networks } from "../database/simulated-chain-tables.js";
import { createSimulatedDatabase, type SimulatedDatabase } from "../database/simulated-database.js";
import { isInjected } from "../world/present-answers.js";
import { createRandom, type Random } from "../world/random.js";
import { noFaults } from "../world/scenario.js";
import { type Actor, createScheduler, type Scheduler } from "../world/scheduler.js";
import type { ChainBug } from "./chain-bug.js";
import { createChainClients } from "./chain-clients.js";
import { startOperator } from "./chain-operator.js";
import { startRestores } from "./chain-restores.js";
import { stopForAWhile } from "./chain-stops.js";
import { drawDeposit, type OwnWallet, openWallets, outsideAddress } from "./chain-wallets.js";
import { type ChainWorldKind, expectedErrors } from "./chain-worlds.js";
import { createFork, withAFork } from "./forked-node.js";
import { withALiar, withAnOutvotedLiar } from "./lying-node.js";

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
  /** Payments that are on the chain, and that the operator has seen to be cancelled before the wallet went on. */
  givenUp: Set<string>;
  pay: () => Promise<void>;
  /** Freezes a wallet or suspends a tenant, for a while. */
  stop: () => Promise<void>;
  deposit: () => void;
}

const leaseMs = 1000;
const stallMs = 3000;
const blockEveryMs = 200;
/** When all faults have ended, nothing but time is missing. */
const healedBlockEveryMs = 40;

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
  // Not drawn, so that seeds from before there was such a node have the same meaning.
  const isSilent = seed % 3 === 0;
  const database = createSimulatedDatabase({
    ...{ scheduler, random, rates: () => (isHealed ? noFaults : rates) },
    disguise: (rows) => rows,
  });
  const wallets = openWallets(database, chain, random, scheduler.now());
  const signer = createModelSigner(async () => undefined);
  const newUuid = createUuidV7Source({ now: scheduler.now, randomBytes: random.bytes });
  const givenUp = new Set<string>();
  const signed: string[] = [];
  const supplied = new Set<string>();
  const running = new Set<Actor>();
  let processes = 0;
  /** While the database is restored, no process starts. */
  let isRestoring = false;

  const fork = createFork({ chain, random, wallets, isHealed: () => isHealed, count });

  const report = (error: unknown) => {
    const isCaused =
      isInjected(error) || error instanceof NodeUnavailableError || error instanceof ChainMovedError;
    const isExpected = expectedErrors[kind].some((one) => one.test(String(error)));
    if (!isCaused && !isExpected) errors.push(String(error));
  };

  function startProcess(): void {
    if (isRestoring) return;
    processes += 1;
    const actor: Actor = { name: `driver ${processes}`, isAlive: true };
    running.add(actor);
    let standsStillUntilMs = 0;
    const reach = async (what: string) => {
      const isStalled = !isHealed && random.chance(stalls);
      if (isStalled) count("stalls");
      // The process stands still, or waits for a node that is slow.
      if (isStalled && random.chance(0.5)) standsStillUntilMs = scheduler.now() + stallMs;
      await (isStalled ? scheduler.turn(actor, `stalls at ${what}`, stallMs) : scheduler.turn(actor, what));
      if (!isHealed && random.chance(nodeFaults)) {
        count("nodes away");
        throw new NodeUnavailableError("no node answers");
      }
    };
    const isAnswerLost = () => !isHealed && random.chance(nodeFaults);
    const wouldRevert = (destination: string) => destination.endsWith("dead");
    const lag = () => (!isHealed && random.chance(0.1) ? random.between(1, 3) : 0);
    const around = { chain, random, database, isHealed: () => isHealed };
    const manner = { reach, isAnswerLost, lag, wouldRevert };
    const honest = createModelNode({ chain, ...manner });
    // Blocks are not read ahead in these worlds, so that seeds which have found faults before that keep their meaning.
    if (kind === "lying" || kind === "rewound") honest.headers = async () => [];
    const lying = {
      ...{ chain, random, wallets, isLying: () => !isHealed, isSilent, count },
      asksBoth: bug?.believesOneNode !== true,
    };
    const nodes: Partial<Record<ChainWorldKind, () => ChainNode>> = {
      lying: () => withALiar(honest, lying),
      outvoted: () => withAnOutvotedLiar(honest, lying),
      forked: () => withAFork(honest, fork, manner),
    };
    const node = nodes[kind]?.() ?? honest;
    const store = createSimulatedChainStore(database, actor);
    const reachSigner = async (...given: Parameters<typeof signer.sign>) => {
      const isSlow = !isHealed && random.chance(0.1);
      await scheduler.turn(actor, "sign", isSlow ? random.between(100, 2000) : undefined);
      const answers = await signer.sign(...given);
      for (const one of answers) if ("bytes" in one) signed.push(one.bytes);
      await scheduler.turn(actor, "signed");
      return answers;
    };
    const disguisedSigner = { ...signer, sign: reachSigner };
    const driver = createEvmDriver({
      network: { ...modelChainNetwork, hasPool },
      node: bug?.node?.(node, around) ?? node,
      signer: { ...disguisedSigner, ...bug?.signer?.(disguisedSigner, around) },
      store: bug?.store?.(store, around) ?? store,
      recorder: { assets: modelAssets, newUuid, now: scheduler.now, onChanged: () => undefined },
      ...{ verifySigned: verifyModelBytes, isUnavailable: isInjected },
      ...{ holder: newUuid(), leaseMs, pollEveryMs: 50, onError: report, onLost: () => count("leases lost") },
      onCompared: (failure) => failure !== undefined && report(failure),
      onShort: ({ walletId }) => sendCoins(walletId),
      onDoubted: () => undefined,
      monotonicMs: scheduler.now,
      timers: {
        after: (delayMs, work) => {
          let cancel = scheduler.after(actor, delayMs, "timer", () => {
            const leftMs = standsStillUntilMs - scheduler.now();
            if (leftMs <= 0) work();
            else cancel = scheduler.after(actor, leftMs, "timer", work);
          });
          return () => cancel();
        },
      },
    });
    driver.start();
    if (isHealed || random.chance(0.4)) return;
    scheduler.after(outside, random.between(200, 6000), "a kill", () => {
      if (isHealed) return;
      if (!actor.isAlive) return;
      count("kills");
      kill(actor);
      scheduler.after(outside, random.between(10, 500), "a start", startProcess);
    });
  }

  function kill(actor: Actor): void {
    actor.isAlive = false;
    running.delete(actor);
    database.breakConnections(actor);
  }

  function mine(): void {
    scheduler.after(outside, isHealed ? healedBlockEveryMs : blockEveryMs, "a block", mine);
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

  function mineOne(): void {
    chain.mine((_, isReplaced) => random.chance(isReplaced ? 0.1 : 0.7));
    if (kind === "forked") fork.grow();
  }

  const engine: Actor = { name: "engine", isAlive: true };
  const clients = createChainClients({
    ...{ database, chain, scheduler, random, wallets, actor: engine, outside, count, newUuid },
    ...{ report, neverPaid, cancelsAtOnce: bug?.cancelsAtOnce === true },
  });
  const { insist } = clients;

  function deposit(): void {
    // A network begins at its final block, before anything is paid on it.
    if ((database.tables.get(networks.name)?.size ?? 0) === 0) {
      scheduler.after(outside, blockEveryMs, "a deposit", deposit);
      return;
    }
    const { transfers, hidden } = drawDeposit(wallets, random);
    chain.pay(transfers, hidden);
  }

  /** Somebody reads why a payment waits. Only at the end, so that it must be able to wait. */
  function sendCoins(walletId: string): void {
    const wallet = wallets.find((one) => one.walletId === walletId);
    if (!isHealed || wallet === undefined || supplied.has(walletId)) return;
    supplied.add(walletId);
    count("coins sent");
    chain.pay([{ asset: modelCoin, from: outsideAddress, to: wallet.address, amount: 1_000_000_000n }], []);
  }

  if (kind === "lying" || kind === "rewound")
    startOperator({
      ...{ database, chain, scheduler, random, actor: engine, outside, count, insist, givenUp },
      looksAtChain: bug?.paysWaiting !== true,
    });
  if (kind === "rewound")
    startRestores({
      ...{ database, chain, scheduler, random, outside, count, signed },
      isHealed: () => isHealed,
      stopAll: () => {
        isRestoring = true;
        for (const actor of running) kill(actor);
      },
      startAgain: () => {
        isRestoring = false;
        startProcess();
        return clients.beginAgain();
      },
    });
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
      givenUp,
      pay: clients.pay,
      deposit,
    },
    // What a restore brings back of a stop, nobody would lift.
    stop: async () => {
      if (kind === "rewound") return;
      await stopForAWhile({ database, scheduler, random, wallets, actor: engine, outside, count, insist });
    },
    isHealed: () => isHealed,
    heal: () => {
      isHealed = true;
      chain.setBaseFee(100n);
      startProcess();
    },
  };
}
