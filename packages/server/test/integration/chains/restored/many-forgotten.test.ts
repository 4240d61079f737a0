import { expect, it } from "vitest";
import { NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";

/* A backup that is older than many payments: each of them is looked for on the chain when the wallet is adopted. */

const { driven, adopted } = await startRestoredChain();

const count = 40;

/** All of them are on the chain. */
async function forgetMany(): Promise<{ wallet: ChainWallet; ids: string[] }> {
  const wallet = await driven.createFunded();
  adopted.estimateNothing();
  const ids: string[] = [];
  for (let nonce = 0; nonce < count; nonce++) {
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    driven.chain.send(await adopted.forget(wallet, id, nonce));
    await driven.begin(wallet, id);
    ids.push(id);
  }
  await adopted.untilHalted(wallet);
  return { wallet, ids };
}

it("looks for each payment once, some in each step, although a node fails in between", async () => {
  const { wallet, ids } = await forgetMany();
  let searches = 0;
  const bursts: number[] = [0];
  const { node } = driven.honest;
  driven.ports.node = {
    ...driven.ports.node,
    noncesAt: (...given) => {
      bursts.push(0);
      return node.noncesAt(...given);
    },
    findNonceUse: (...given) => {
      searches += 1;
      bursts.push((bursts.pop() ?? 0) + 1);
      if (searches === 20) return Promise.reject(new NodeUnavailableError("it does not answer"));
      return node.findNonceUse(...given);
    },
  };
  await adopted.untilAdopted(wallet, count);
  for (const id of ids) expect((await driven.read(id)).state).toBe("completed");
  expect(searches).toBe(count + 1);
  expect(Math.max(...bursts)).toBeLessThanOrEqual(32);
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
});

it("looks for each payment once also if each step fails behind some of them", async () => {
  const { wallet, ids } = await forgetMany();
  const { node } = driven.honest;
  let searches = 0;
  let hasSearched = false;
  driven.ports.node = {
    ...driven.ports.node,
    balances: (...given) => {
      const fails = hasSearched && searches <= 2 * count;
      hasSearched = false;
      return fails ? Promise.reject(new Error("the answer cannot be read")) : node.balances(...given);
    },
    findNonceUse: (...given) => {
      searches += 1;
      hasSearched = true;
      return node.findNonceUse(...given);
    },
  };
  await adopted.untilAdopted(wallet, count);
  for (const id of ids) expect((await driven.read(id)).state).toBe("completed");
  expect(searches).toBe(count);
  expect(driven.errors.map(String)).toContain("Error: the answer cannot be read");
  driven.errors.splice(0);
});
