import { createUuidV7Source } from "@bursar/domain";
import { expect, it } from "vitest";
import { createEvmDriver } from "../../../src/rails/evm/driver/evm-driver.js";
import { createModelChain, verifyModelBytes } from "../../harness/chain/model-chain.js";
import { modelAssets, modelChainNetwork } from "../../harness/chain/model-network.js";
import { createModelNode } from "../../harness/chain/model-node.js";
import { createModelSigner } from "../../harness/chain/model-signer.js";
import { createSimulatedChainStore } from "../database/simulated-chain-store.js";
import { chainBlocks } from "../database/simulated-chain-tables.js";
import { createSimulatedDatabase } from "../database/simulated-database.js";
import { createRandom } from "../world/random.js";
import { noFaults } from "../world/scenario.js";
import { type Actor, createScheduler } from "../world/scheduler.js";
import { rowsOf } from "./audit-chain.js";
import { openWallets } from "./chain-wallets.js";

/** How many answers a node gives one after the other to what is asked for, if a block has something of ours. */
const answersTo: Readonly<Record<string, number>> = { heads: 4, block: 3, "final blocks": 5 };

/** How many blocks the last followed one is behind the newest one, at each block of an hour. */
async function measureLag(blockEveryMs: number, answerMs: number): Promise<number[]> {
  const random = createRandom(1);
  const scheduler = createScheduler(random, () => undefined);
  const actor: Actor = { name: "driver", isAlive: true };
  const chain = createModelChain({ hasPool: true });
  const database = createSimulatedDatabase({
    ...{ scheduler, random, rates: () => noFaults },
    disguise: (rows) => rows,
  });
  openWallets(database, chain, random, scheduler.now());
  const reach = (what: string) => scheduler.turn(actor, what, (answersTo[what] ?? 1) * answerMs);
  const node = createModelNode({
    ...{ chain, reach, isAnswerLost: () => false, lag: () => 0, wouldRevert: () => false },
  });
  const store = createSimulatedChainStore(database, actor);
  const driver = createEvmDriver({
    ...{ network: modelChainNetwork, node, signer: createModelSigner(async () => undefined), store },
    recorder: {
      ...{
        assets: modelAssets,
        newUuid: createUuidV7Source({ now: scheduler.now, randomBytes: random.bytes }),
      },
      ...{ now: scheduler.now, onChanged: () => undefined },
    },
    ...{ verifySigned: verifyModelBytes, isUnavailable: () => false, holder: "driver" },
    ...{ leaseMs: 10_000, pollEveryMs: 1000, onError: (error: unknown) => expect(error).toBeUndefined() },
    ...{ onLost: () => undefined, onCompared: () => undefined, onShort: () => undefined },
    ...{ onDoubted: () => undefined, monotonicMs: scheduler.now },
    timers: { after: (delayMs, work) => scheduler.after(actor, delayMs, "timer", work) },
  });
  const lags: number[] = [];
  const mine = () => {
    const followed = Math.max(0, ...rowsOf(database, chainBlocks).map(({ number }) => number));
    lags.push(chain.head().number - followed);
    chain.mine(() => true);
    scheduler.after(actor, blockEveryMs, "a block", mine);
  };
  for (let block = 0; block < 12; block++) chain.mine(() => true);
  driver.start();
  mine();
  await scheduler.runUntil(() => lags.length > 3_600_000 / blockEveryMs);
  return lags.slice(lags.length / 2);
}

it.each([
  [12_000, 3000],
  [12_000, 2000],
  [2000, 500],
])(
  "a chain with a block each %i ms is followed with nodes that need %i ms for an answer",
  async (...given) => {
    const lags = await measureLag(...given);
    process.stdout.write(
      `${given.join(" ")}: at most ${Math.max(...lags)}, on average ${lags.reduce((a, b) => a + b, 0) / lags.length}\n`,
    );
    expect(Math.max(...lags)).toBeLessThan(6);
  },
);
