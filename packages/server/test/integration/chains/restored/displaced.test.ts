import { expect, it } from "vitest";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";

/* A restore that no process has noticed: a payment gets another nonce than the signer has bound it to. It is halted, and each way out pays it once. */

const lostId = "01900000-0000-7000-8000-000000000007";

const { driven, restored, adopted } = await startRestoredChain();

/** The signer has bound nonce 0 to the first, if there is one, and nonce 1 to the payment, which gets 0 here. Returns its lost bytes. */
async function displace(wallet: ChainWallet, first: string | undefined, id: string): Promise<string> {
  if (first !== undefined) await restored.signLost(wallet, first);
  const lostBytes = await restored.signLost(wallet, id, 1);
  await driven.begin(wallet, id);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  const { reason } = await adopted.readWallet(wallet);
  // Other wallets are asked about in a new epoch only.
  for (const command of ["bursar recover", "bursar wallet resume"]) expect(reason).toContain(command);
  expect(await driven.nonceOf(id)).toBeNull();
  return lostBytes;
}

/** Each is paid once, with the nonce of its place, and the books are those of the chain. */
async function expectPaid(wallet: ChainWallet, ...ids: string[]): Promise<void> {
  await driven.settle();
  for (const id of ids) await driven.until(id, "completed");
  expect(await Promise.all(ids.map(driven.nonceOf))).toEqual(ids.map((_, nonce) => nonce));
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
}

it("resumed, all payments get the nonces that the signer has bound them to, and the others follow", async () => {
  const wallet = await driven.createFunded();
  const first = await driven.accept(wallet, outside, modelCoin, 20n);
  const displaced = await driven.accept(wallet, outside, modelCoin, 20n);
  await displace(wallet, first, displaced);
  const other = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.begin(wallet, first);
  await adopted.resume(wallet);
  await restored.untilConfirmed(wallet);
  await driven.inPool(3);
  await expectPaid(wallet, first, displaced, other);
});

it("resumed, another payment uses its nonce if the signer has bound that to none", async () => {
  const wallet = await driven.createFunded();
  const displaced = await driven.accept(wallet, outside, modelCoin, 20n);
  await displace(wallet, undefined, displaced);
  const other = await driven.pay(wallet, outside, modelCoin, 10n);
  await adopted.resume(wallet);
  await restored.untilConfirmed(wallet);
  await driven.inPool(2);
  await expectPaid(wallet, other, displaced);
});

it("adopted while its lost bytes are pending, it gets the nonce that the signer has bound it to", async () => {
  const wallet = await driven.createFunded();
  const displaced = await driven.accept(wallet, outside, modelCoin, 20n);
  const lostBytes = await displace(wallet, lostId, displaced);
  await adopted.sendGivenUp(wallet);
  await adopted.untilAdopted(wallet);
  driven.chain.send(lostBytes);
  await driven.settle();
  await driven.until(displaced, "completed");
  expect(await driven.nonceOf(displaced)).toBe(1);
});

it("adopted when its lost bytes are final, it is completed by them", async () => {
  const wallet = await driven.createFunded();
  const first = await driven.accept(wallet, outside, modelCoin, 20n);
  const displaced = await driven.accept(wallet, outside, modelCoin, 20n);
  const lostBytes = await displace(wallet, first, displaced);
  await adopted.sendGivenUp(wallet);
  driven.chain.send(lostBytes);
  await driven.settle();
  await adopted.untilAdopted(wallet, 2);
  await driven.until(displaced, "completed");
  expect(await driven.nonceOf(displaced)).toBe(1);
  await restored.look(wallet, first);
  expect((await driven.read(first)).state).toBe("cancelled");
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
});
