import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../simulation/world/random.js";
import type { AnvilChain } from "./anvil-chain.js";
import { reorganisationMax } from "./proof-chain.js";
import type { ProofWorld } from "./proof-world.js";
import type { NetworkFaults } from "./prove-chain.js";

const pauseMinMs = 150;
const pauseMaxMs = 700;
const spikeBlocks = 8;
const gwei = 10n ** 9n;

/** What anvil itself can do to transactions: reorganisations that lose them, a pool that drops them, and base fees that outbid them. */
export function startAnvilFaults({ chain }: ProofWorld<AnvilChain>, random: Random): NetworkFaults {
  const counts: Record<string, number> = {};
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by;
  };

  async function drop(): Promise<void> {
    for (const hash of await chain.listPool())
      if (random.chance(0.3) && (await chain.request("anvil_dropTransaction", [hash])) !== null)
        count("a dropped transaction");
  }

  async function reorganise(): Promise<void> {
    const depth = random.between(1, reorganisationMax);
    await chain.reorganise(depth);
    count(`a reorganisation of ${depth}`);
  }

  /** It falls by an eighth with each block that is less than half full. */
  async function raiseBaseFee(): Promise<void> {
    const wei = BigInt(random.between(20, 250)) * gwei;
    for (let block = 0; block < spikeBlocks; block++) {
      await chain.request("anvil_setNextBlockBaseFeePerGas", [`0x${wei.toString(16)}`]);
      await chain.mine();
    }
    count("a fee spike");
  }

  let isOn = true;
  const running = (async () => {
    while (isOn) {
      await sleep(random.between(pauseMinMs, pauseMaxMs));
      await random.pick([drop, drop, reorganise, reorganise, raiseBaseFee])();
    }
  })();
  running.catch(() => undefined);
  return {
    counts,
    stop: async () => {
      isOn = false;
      await running;
    },
  };
}
