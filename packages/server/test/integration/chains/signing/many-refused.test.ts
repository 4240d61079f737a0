import { expect, it } from "vitest";
import type { SigningIntent } from "../../../../src/app/chain/signer.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { createModelSigner } from "../../../harness/chain/model-signer.js";
import { eventually } from "../../../harness/eventually.js";

/** More than is signed in one step. */
const refusedCount = 300;
const aboveLimit = { refused: "FEE_ABOVE_LIMIT" as const, reason: "The fee is above the limit." };

it("a payment behind many that the signer refuses for good is signed", async () => {
  const service = await startChainService({
    network: { ...modelChainNetwork, inFlightMax: 2 * refusedCount },
  });
  try {
    const honest = createModelSigner(async () => undefined);
    const refused = new Set<string>();
    let [refusedWallet, largestRequest] = ["", 0];
    const sign = async (intents: readonly SigningIntent[]) => {
      largestRequest = Math.max(largestRequest, intents.length);
      const ofFirst = intents.filter(({ walletId }) => walletId === refusedWallet);
      for (const { transactionId } of ofFirst) refused.add(transactionId);
      const answers = await Promise.all(
        intents.map((intent) => (ofFirst.includes(intent) ? [aboveLimit] : honest.sign([intent]))),
      );
      return answers.flat();
    };
    service.startDriver({ signer: { ...honest, sign } });
    const tenant = await service.createTenant();
    const wallets = [await service.createWallet(tenant), await service.createWallet(tenant)] as const;
    const [first, later] = wallets;
    refusedWallet = first.walletId;
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    for (const { address } of wallets)
      service.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 10n ** 15n }]);
    for (let block = 0; block < 6; block++) service.chain.mine(() => true);
    for (const wallet of wallets)
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked > 0n,
      );
    for (let made = 0; made < refusedCount; made++) await service.pay(first, outside, modelCoin, 1n);
    const id = await service.pay(later, outside, modelCoin, 1n);
    await eventually(
      () => service.read(id),
      ({ state }) => state === "broadcast",
    );
    // None of them is forgotten either.
    await eventually(
      () => refused.size,
      (count) => count === refusedCount,
    );
    expect(largestRequest).toBeLessThanOrEqual(64);
    expect(await service.halts()).toEqual([]);
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});
