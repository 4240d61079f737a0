import { expect, it } from "vitest";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* The signer has signed a payment with nonce 1 and nothing with nonce 0, which the database has forgotten: both nonces must be used. */

const { driven, restored, adopted } = await startRestoredChain();

/** A payment that has begun, and that the signer has bound to nonce 1. */
async function beginAboveGap(wallet: ChainWallet): Promise<string> {
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, id, 1);
  await restored.recover();
  await driven.begin(wallet, id);
  return id;
}

async function expectBooksAgree(wallet: ChainWallet): Promise<void> {
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
}

const untilReported = (part: string) =>
  eventually(async () => driven.shortages.some((reason) => reason.includes(part)), Boolean, 20_000);

it("a payment that the signer has not signed uses the nonce, and both are paid once", async () => {
  const wallet = await driven.createFunded();
  const bound = await beginAboveGap(wallet);
  const [next, last] = [
    await driven.pay(wallet, outside, modelCoin, 10n),
    await driven.pay(wallet, outside, modelCoin, 11n),
  ];
  await restored.untilConfirmed(wallet);
  await driven.inPool(3);
  expect([await driven.nonceOf(next), await driven.nonceOf(bound), await driven.nonceOf(last)]).toEqual([
    0, 1, 2,
  ]);
  await driven.settle();
  for (const id of [next, bound, last]) await driven.until(id, "completed");
  await expectBooksAgree(wallet);
});

it("one that is to be cancelled uses it for an empty transaction if there is no other", async () => {
  const wallet = await driven.createFunded();
  const waiting = await driven.accept(wallet, outside, modelCoin, 10n);
  const bound = await beginAboveGap(wallet);
  await restored.cancel(wallet, waiting);
  await restored.look(wallet, waiting);
  await restored.untilConfirmed(wallet);
  await driven.inPool(2);
  const sent = driven.chain.pool().map(({ intent }) => `${intent?.nonce} ${intent?.purpose}`);
  expect(sent.toSorted()).toEqual(["0 cancellation", "1 replacement"]);
  await driven.settle();
  await driven.until(bound, "completed");
  await driven.until(waiting, "cancelled");
  await expectBooksAgree(wallet);
});

it("without any payment that could use it, it is given up, and the payment above it is made", async () => {
  const wallet = await driven.createFunded();
  const bound = await beginAboveGap(wallet);
  await untilReported("nothing with nonce 0, which must be used before");
  expect(await driven.nonceOf(bound)).toBeNull();
  expect(await adopted.giveUp(wallet, 500n, 2)).toMatchObject({
    refused: expect.stringContaining("or a later one"),
  });
  expect(await adopted.giveUp(wallet)).toMatchObject({ transactionId: null });
  // Given up once more, it is bound to the transaction of the first time.
  expect(await adopted.giveUp(wallet, 600n)).toMatchObject({ transactionId: expect.any(String) });
  const again = await adopted.giveUp(wallet, 700n);
  driven.chain.send("bytes" in again ? again.bytes : JSON.stringify(again));
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet);
  await driven.inPool(1);
  expect(await driven.nonceOf(bound)).toBe(1);
  await driven.settle();
  await driven.until(bound, "completed");
  await expectBooksAgree(wallet);
});

it("no payment uses it while the signer has more nonces than are listed: it may have bound that payment to one", async () => {
  const wallet = await driven.createFunded();
  const signed = (nonce: number) => ({
    nonce,
    transactionId: `01900000-0000-7000-8001-${String(nonce).padStart(12, "0")}`,
  });
  driven.ports.signer = {
    ...driven.honest.signer,
    signedFrom: async (wallets) =>
      wallets.map(({ nonce }) =>
        Array.from({ length: 256 }, (_, index) => signed(Math.max(nonce, 1) + index)),
      ),
  };
  await restored.recover();
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await untilReported("more than 4096 others");
  expect(await driven.nonceOf(id)).toBeNull();
});
