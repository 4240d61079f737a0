import { expect, it } from "vitest";
import { SignerUnavailableError } from "../../../../src/app/chain/signer.js";
import { readSpeedUpFacts } from "../../../../src/store/chain/speed-up.js";
import { currentEpoch } from "../../../../src/store/chain/wallets/confirmed-wallets.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* A nonce was taken back, and a payment of the same wallet has a later one, which no block can have before. */

const { driven, restored, adopted } = await startRestoredChain();

interface TakenBack {
  wallet: ChainWallet;
  /** Has not begun, and the signer has bound it to nonce 0. */
  bound: string;
  /** Had nonce 0, which was taken back. */
  refused: string;
  /** Signed with nonce 1. */
  above: string;
}

/** All payments have their nonces before the signer refuses some of them. */
function stopSigning(): void {
  driven.ports.signer = {
    sign: () => Promise.reject(new SignerUnavailableError("the signer is stopped")),
  };
}

/** A restore that no process has noticed, up to the halt. */
async function takeBack(): Promise<TakenBack> {
  const wallet = await driven.createFunded();
  const bound = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, bound);
  stopSigning();
  const refused = await driven.pay(wallet, outside, modelCoin, 30n);
  const above = await driven.pay(wallet, outside, modelCoin, 40n);
  await eventually(
    () => driven.nonceOf(above),
    (nonce) => nonce === 1,
  );
  driven.ports.signer = driven.honest.signer;
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  return { wallet, bound, refused, above };
}

async function expectPaid(wallet: ChainWallet, ...ids: string[]): Promise<void> {
  await driven.settle();
  for (const id of ids) await driven.until(id, "completed");
  expect(await Promise.all(ids.map(driven.nonceOf))).toEqual(ids.map((_, nonce) => nonce));
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
}

const attemptsOf = async (id: string) => {
  const [row] = await driven.database.query<{ wanted: number; termsNumber: string }>(
    sql`SELECT wanted, terms_number AS "termsNumber" FROM chain_payments WHERE transaction_id = ${id}`,
  );
  return row;
};

it("does not raise the fees of the later one while the nonce is free", async () => {
  const { wallet, bound, refused, above } = await takeBack();
  await adopted.resume(wallet);
  await driven.inPool(1);
  const before = await attemptsOf(above);
  expect(before?.wanted).toBe(1);
  expect(await readSpeedUpFacts(driven.database, { tenantId: wallet.tenantId, id: above })).toMatchObject({
    behindId: null,
    waitsForFree: true,
  });
  // As requested before the nonce was taken back.
  await driven.database.query(
    sql`UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = ${above}`,
  );
  for (const _ of ["once", "twice"]) {
    await driven.settle();
    driven.wake();
  }
  const other = await driven.createFunded();
  const paid = await driven.pay(other, outside, modelCoin, 10n);
  await driven.inPool(2);
  await driven.settle();
  await driven.until(paid, "completed");
  expect(await attemptsOf(above)).toEqual(before);
  await driven.begin(wallet, bound);
  await driven.inPool(3);
  await expectPaid(wallet, bound, above, refused);
});

it("has a nonce given up that was taken back, and to which the signer has bound nothing", async () => {
  const wallet = await driven.createFunded();
  const displaced = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, displaced, 1);
  stopSigning();
  await driven.begin(wallet, displaced);
  const refused = await driven.pay(wallet, outside, modelCoin, 30n);
  const above = await driven.pay(wallet, outside, modelCoin, 40n);
  await eventually(
    () => driven.nonceOf(above),
    (nonce) => nonce === 2,
  );
  expect(await adopted.giveUp(wallet)).toMatchObject({ refused: expect.stringContaining("Cancel it") });
  driven.ports.signer = driven.honest.signer;
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await Promise.all([displaced, refused, above].map(driven.nonceOf))).toEqual([null, null, 2]);
  expect(await adopted.giveUp(wallet, 500n, 2)).toMatchObject({
    refused: expect.stringContaining("Cancel it"),
  });
  await adopted.sendGivenUp(wallet);
  await driven.settle();
  await adopted.adopt(wallet);
  await driven.inPool(3);
  await driven.settle();
  for (const id of [displaced, refused, above]) await driven.until(id, "completed");
  expect(await Promise.all([displaced, refused, above].map(driven.nonceOf))).toEqual([1, 3, 2]);
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
});

it("counts as unconfirmed, also if a process of an earlier version has confirmed it", async () => {
  const { wallet, bound, refused, above } = await takeBack();
  // What it writes does not change `reclaimed_from`.
  await driven.database.query(sql`
    UPDATE chain_wallets SET confirmed_epoch = ${currentEpoch} WHERE wallet_id = ${wallet.walletId}
  `);
  await adopted.resume(wallet);
  // It may have been made: neither does it end, nor does the nonce that the signer has bound it to go to another one.
  await restored.cancel(wallet, bound);
  await restored.look(wallet, bound);
  await driven.inPool(3);
  await driven.settle();
  await driven.until(bound, "cancelled");
  expect(await adopted.readWallet(wallet)).toMatchObject({ code: null });
  for (const id of [above, refused]) await driven.until(id, "completed");
  expect(await Promise.all([bound, above, refused].map(driven.nonceOf))).toEqual([0, 1, 2]);
});
