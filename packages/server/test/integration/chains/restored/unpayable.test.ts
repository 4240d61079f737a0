import { expect, it } from "vitest";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";

/* A payment whose only nonce was used without it: the signer refuses it with any other, so the wallet could not go on if it stayed open. */

const { driven, restored, adopted } = await startRestoredChain();

async function expectGoesOn(wallet: ChainWallet): Promise<void> {
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.inPool(1);
  expect(await driven.nonceOf(next)).toBe(1);
  await driven.settle();
  await driven.until(next, "completed");
}

it("is cancelled if it has begun and another transaction was seen with its nonce", async () => {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  adopted.estimateNothing();
  await adopted.forget(wallet, id);
  await driven.begin(wallet, id);
  driven.chain.useNonce(wallet.address);
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet);
  expect((await driven.read(id)).state).toBe("cancelled");
  driven.ports.node = driven.honest.node;
  await expectGoesOn(wallet);
});

/** As its client has cancelled it in the commits that were lost. */
async function sendCancelled(wallet: ChainWallet, id: string): Promise<void> {
  const { tenantId, walletId, address } = wallet;
  const [signed] = await driven.honest.signer.sign([
    {
      ...{ tenantId, walletId, address, transactionId: id, network: modelNetwork, nonce: 0 },
      ...{ purpose: "cancellation", contract: null, destination: address, amount: 0n, gasLimit: 21_000n },
      ...{ maxFeePerGas: 500n, maxPriorityFeePerGas: 5n },
    },
  ]);
  driven.chain.send(signed !== undefined && "bytes" in signed ? signed.bytes : JSON.stringify(signed));
}

it("is cancelled by the engine if it has not begun and its own empty transaction has used its nonce", async () => {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  await adopted.forget(wallet, id);
  await sendCancelled(wallet, id);
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet);
  await restored.look(wallet, id);
  expect((await driven.read(id)).state).toBe("cancelled");
  await expectGoesOn(wallet);
});

it("is cancelled although it holds all coins of the wallet: what it did not pay covers the fee", async () => {
  const coins = 1_000_000_000n;
  const wallet = await driven.createFunded(coins);
  const id = await driven.accept(wallet, outside, modelCoin, coins);
  adopted.estimateNothing();
  await adopted.forget(wallet, id);
  await driven.begin(wallet, id);
  await adopted.sendGivenUp(wallet);
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet);
  await driven.until(id, "cancelled");
  driven.ports.node = driven.honest.node;
  await expectGoesOn(wallet);
});

/** It begins only to be cancelled, while nonce 1 is a gap below a payment that the signer has bound to nonce 2. */
async function refuseInGap() {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  const above = await driven.accept(wallet, outside, modelCoin, 20n);
  await adopted.forget(wallet, id);
  await adopted.forget(wallet, above, 2);
  await sendCancelled(wallet, id);
  await adopted.untilHalted(wallet);
  await adopted.untilResumed(wallet);
  await restored.look(wallet, id);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await driven.nonceOf(id)).toBeNull();
  await adopted.resume(wallet);
  return { wallet, id, above };
}

async function expectEnds(wallet: ChainWallet, id: string, above: string, inPool: number): Promise<void> {
  await driven.begin(wallet, above);
  await driven.until(id, "cancelled");
  await driven.inPool(inPool);
  await driven.settle();
  await driven.until(above, "completed");
  expect(await adopted.readWallet(wallet)).toMatchObject({ code: null });
  expect(await Promise.all([id, above].map(driven.nonceOf))).toEqual([null, 2]);
}

it("fills no gap after the signer has refused it another nonce than its own, and another payment does", async () => {
  const { wallet, id, above } = await refuseInGap();
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.inPool(1);
  expect(await driven.nonceOf(next)).toBe(1);
  await expectEnds(wallet, id, above, 2);
  await driven.until(next, "completed");
});

it("fills no gap then, and the nonce can be given up", async () => {
  const { wallet, id, above } = await refuseInGap();
  const given = await adopted.giveUp(wallet, 500n, 1);
  driven.chain.send("bytes" in given ? given.bytes : JSON.stringify(given));
  await adopted.untilHalted(wallet);
  await adopted.untilResumed(wallet, 2);
  await expectEnds(wallet, id, above, 1);
});
