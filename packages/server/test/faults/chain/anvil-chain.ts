import { setTimeout as sleep } from "node:timers/promises";
import { anvilFinalDepth, spawnAnvil } from "../../harness/chain/anvil.js";
import { blockTimeMs, type ProofChain } from "./proof-chain.js";

export interface AnvilChain extends ProofChain {
  listPool: () => Promise<readonly string[]>;
}

/** Anvil with a miner that works while something is pending or not final, and rests otherwise. */
export async function startAnvilChain(): Promise<AnvilChain> {
  const anvil = await spawnAnvil();
  const { url, request, fund } = anvil;

  /** The hashes of what waits to be mined. */
  async function listPool(): Promise<string[]> {
    const pool = (await request("txpool_content")) as Record<
      "pending" | "queued",
      Record<string, Record<string, { hash: string }>>
    >;
    return [pool.pending, pool.queued].flatMap((senders) =>
      Object.values(senders).flatMap((nonces) => Object.values(nonces).map(({ hash }) => hash)),
    );
  }

  async function readHead(): Promise<number> {
    return Number(await request("eth_blockNumber"));
  }

  /** Whether a block that is not final has a transaction. */
  async function isUnsettled(head: number): Promise<boolean> {
    for (let number = Math.max(0, head - anvilFinalDepth + 1); number <= head; number++) {
      const count = await request("eth_getBlockTransactionCountByNumber", [`0x${number.toString(16)}`]);
      if (Number(count) > 0) return true;
    }
    return false;
  }

  async function isResting(): Promise<boolean> {
    return (await listPool()).length === 0 && !(await isUnsettled(await readHead()));
  }

  let last: Promise<unknown> = Promise.resolve();
  /** Anvil loses blocks if it mines while it reorganises, so one follows the other. */
  const inTurn = (method: string, params: readonly unknown[]) => {
    last = last.then(() => request(method, params));
    return last;
  };
  const mine = () => inTurn("anvil_mine", ["0x1"]);
  let isOn = true;
  const mining = (async () => {
    while (isOn) {
      await sleep(blockTimeMs);
      if (!(await isResting())) await mine();
    }
  })();
  // The last check of a miner that is stopped can fail with its node; any other failure is thrown by `stop`.
  mining.catch(() => undefined);

  return {
    ...{ url, request, fund, listPool, mine },
    nodePaths: [""],
    outsideUrl: url,
    status: async () => ({
      isResting: await isResting(),
      finalized: Math.max(0, (await readHead()) - anvilFinalDepth),
    }),
    // What the removed blocks had is in no block and not in the pool afterwards.
    reorganise: (depth) => inTurn("anvil_reorg", [depth, []]),
    heal: async () => undefined,
    stop: async () => {
      isOn = false;
      await mining;
      await anvil.stop();
    },
  };
}
