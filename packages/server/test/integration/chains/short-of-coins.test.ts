import { afterAll, beforeAll, expect, it } from "vitest";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin, modelDataFee } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

let driven: DrivenChain;
beforeAll(async () => {
  driven = await startDrivenChain();
});
afterAll(() => driven.stop());

/** What a plain payment at these fees can cost. */
const boundAt = (maxFeePerGas: bigint) => 21_000n * maxFeePerGas + modelDataFee;

/** A wallet that has these coins beyond its payment at the market's fees. The signer has signed it, its answer is lost, and it is cancelled. */
async function cancelSigned(more: bigint) {
  const { maxFeePerGas } = await driven.ports.node.market();
  const wallet = await driven.createFunded(boundAt(maxFeePerGas) + more);
  let isLost = false;
  driven.ports.signer = {
    ...driven.honest.signer,
    sign: async (intents) => {
      const signed = await driven.honest.signer.sign(intents);
      if (isLost) return signed;
      isLost = true;
      await driven.requestCancel(wallet, intents[0]?.transactionId ?? "");
      throw new Error("the answer is lost");
    },
  };
  const id = await driven.pay(wallet, outside, modelCoin, 1n);
  return { wallet, id, maxFeePerGas };
}

async function expectCancelled(id: string): Promise<void> {
  await driven.inPool(1);
  await driven.settle();
  expect((await driven.until(id, "cancelled")).states).toEqual(["processing", "cancelled"]);
  expect(balanceOf(driven.chain.head().balances, outside, modelCoin)).toBe(0n);
}

it("a cancellation that the wallet cannot pay the usual raise for is raised by the least", async () => {
  const { maxFeePerGas } = await driven.honest.node.market();
  const { id } = await cancelSigned(boundAt((maxFeePerGas * 11n + 9n) / 10n) - boundAt(maxFeePerGas));
  await expectCancelled(id);
  expect(driven.shortages).toEqual([]);
});

it("a cancellation that the wallet has no coins for is reported with what is missing, and goes on when it has them", async () => {
  const { id, wallet } = await cancelSigned(1n);
  const [reason] = await eventually(
    async () => driven.shortages,
    ({ length }) => length > 0,
  );
  expect(reason).toContain(`${wallet.address} does not have the coins: `);
  driven.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1_000_000_000n }]);
  await driven.settle();
  await expectCancelled(id);
});

it("a cancellation that the cap leaves no room for is reported with the cap", async () => {
  driven.shortages.splice(0);
  const market = { maxFeePerGas: 95_000n, maxPriorityFeePerGas: 1n };
  driven.ports.node = { ...driven.honest.node, market: async () => market };
  await cancelSigned(boundAt(market.maxFeePerGas));
  const [reason] = await eventually(
    async () => driven.shortages,
    ({ length }) => length > 0,
  );
  expect(reason).toContain("the cap of the network is 100000");
});
