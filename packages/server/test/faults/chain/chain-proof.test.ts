import { expect, it } from "vitest";
import { forgeDeposit, resumeIfHalted } from "./disputes.js";
import { startNetworkFaults } from "./network-faults.js";
import { startDevelopmentChain } from "./proof-chain.js";
import { startProofWorld } from "./proof-world.js";
import { prove, tell } from "./prove-chain.js";

/** Short and long sizes are in tools/proofs/proofs.mjs. */
const payoutCount = Number(process.env["BURSAR_CHAIN_PAYOUTS"]);
const depositCount = Number(process.env["BURSAR_CHAIN_DEPOSITS"]);
const killCount = Number(process.env["BURSAR_CHAIN_KILLS"]);
const seed = Number(process.env["BURSAR_CHAIN_PROOF_SEED"] ?? (Date.now() % 1_000_000) + 1);
const timeoutMs = 600_000 + (payoutCount + depositCount) * 300 + killCount * 60_000;
/** With 16 payments in flight for each of them, the pace of one wallet does not limit the others. */
const walletCount = Math.min(64, Math.max(8, Math.ceil(payoutCount / 200)));

it(
  `${payoutCount} payouts and ${depositCount} deposits with ${killCount} kills: each is paid once, and the ledger equals the chain (seed ${seed})`,
  async () => {
    tell(`the seed is ${seed}: npm run test:chain -- --seed ${seed}`);
    const world = await startProofWorld(await startDevelopmentChain(), walletCount);
    try {
      await prove(world, {
        ...{ seed, payoutCount, depositCount, killCount, startFaults: startNetworkFaults },
        afterFaults: async (_, deposit) => {
          const forged = await forgeDeposit(world, deposit);
          tell(`a node that lies: ${forged}`);
          expect(forged).toContain("disagree about");
          expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
          await resumeIfHalted(world);
        },
      });
    } finally {
      await world.close();
    }
  },
  timeoutMs,
);
