import { afterAll, afterEach } from "vitest";
import { createAdoptedWallet } from "./adopted-wallet.js";
import { startDrivenChain } from "./driven-chain.js";
import { createRestoredChain } from "./restored-chain.js";

/** A driven chain for a file of tests, what a restore does to it, and what an operator does then. Each test begins with the honest ports. */
export async function startRestoredChain() {
  const driven = await startDrivenChain();
  const restored = createRestoredChain(driven);
  const adopted = createAdoptedWallet(driven, restored);
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
  });
  afterAll(() => driven.stop());
  return { driven, restored, adopted };
}
