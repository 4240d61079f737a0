import { expect, it } from "vitest";
import { hasAnvil } from "../../harness/chain/anvil.js";
import { startAnvilChain } from "./anvil-chain.js";
import { startAnvilFaults } from "./anvil-faults.js";
import { startProofWorld } from "./proof-world.js";
import { prove, tell } from "./prove-chain.js";

const payoutCount = 200;
const depositCount = 200;
/** Each step once. */
const killCount = 17;
const walletCount = 8;
const timeoutMs = 1_200_000;
const seed = Number(process.env["BURSAR_CHAIN_PROOF_SEED"] ?? (Date.now() % 1_000_000) + 1);
/** Only `npm run test:chain` fetches anvil, and only for x64. */
const canRun = hasAnvil && process.env["BURSAR_PROOF_FORM"] === "long";
if (!canRun) tell("the proof against anvil is part of npm run test:chain on x64: it is skipped");

it.skipIf(!canRun)(
  `${payoutCount} payouts and ${depositCount} deposits on anvil with ${killCount} kills: each is paid once, and the ledger equals the chain (seed ${seed})`,
  async () => {
    tell(`anvil: the seed is ${seed}`);
    const world = await startProofWorld(await startAnvilChain(), walletCount);
    try {
      expect(await world.chain.request("web3_clientVersion")).toMatch(/^anvil/);
      await prove(world, { seed, payoutCount, depositCount, killCount, startFaults: startAnvilFaults });
    } finally {
      await world.close();
    }
  },
  timeoutMs,
);
