import { expect, it } from "vitest";
import { NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { SignerUnavailableError } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* A wallet that is adopted while a payment of it cannot be decided: it stays halted, also if its nonce is stated again. */

const { driven, restored, adopted } = await startRestoredChain();

const statesOf = (...ids: string[]) => Promise.all(ids.map(async (id) => (await driven.read(id)).state));

/** Nothing was written: not the nonces, and no loss. */
async function expectUnchanged({ walletId }: ChainWallet, finalNonce: string): Promise<void> {
  const rows = await driven.database.query(sql`
    SELECT w.final_nonce AS "finalNonce", w.halted_code AS code, (
      SELECT count(*)::int FROM transactions t
      WHERE t.source_account_id = w.wallet_id AND t.reference LIKE 'missing %') AS losses
    FROM chain_wallets w WHERE w.wallet_id = ${walletId}
  `);
  expect(rows).toEqual([{ finalNonce, code: "NONCE_USED_ELSEWHERE", losses: 0 }]);
}

it("records what was paid with a nonce that another payment had here when it has begun, and the other is paid too", async () => {
  const wallet = await driven.createFunded();
  const paid = await driven.accept(wallet, outside, modelCoin, 20n);
  const lostBytes = await restored.signLost(wallet, paid);
  const other = await driven.pay(wallet, outside, modelCoin, 30n);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await driven.nonceOf(other)).toBeNull();
  await adopted.giveUp(wallet);
  driven.chain.send(lostBytes);
  await driven.settle();
  for (const _ of ["once", "twice"]) {
    expect(await adopted.refuseAdoption(wallet, 1)).toContain("was paid with nonce 0");
    await driven.settle();
    await expectUnchanged(wallet, "0");
    expect(await statesOf(paid, other)).toEqual(["accepted", "processing"]);
  }
  await restored.look(wallet, paid);
  await adopted.untilAdopted(wallet);
  await driven.until(paid, "completed");
  await driven.inPool(1);
  expect(await driven.nonceOf(other)).toBe(1);
  await driven.settle();
  await driven.until(other, "completed");
});

it("records nothing of the other payments while one that was paid has not begun, and then all of them", async () => {
  const wallet = await driven.createFunded();
  const waiting = await driven.accept(wallet, outside, modelCoin, 20n);
  const begun = await driven.accept(wallet, outside, modelCoin, 20n);
  adopted.estimateNothing();
  const lostBytes = [await adopted.forget(wallet, waiting), await adopted.forget(wallet, begun, 1)];
  await driven.begin(wallet, begun);
  for (const bytes of lostBytes) driven.chain.send(bytes);
  await adopted.untilHalted(wallet);
  for (const _ of ["once", "twice"]) {
    expect(await adopted.refuseAdoption(wallet, 2)).toContain("was paid with nonce 0");
    await driven.settle();
    await expectUnchanged(wallet, "0");
    expect(await statesOf(waiting, begun)).toEqual(["accepted", "processing"]);
  }
  await restored.look(wallet, waiting);
  await adopted.untilAdopted(wallet, 2);
  for (const id of [waiting, begun]) await driven.until(id, "completed");
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
});

it("asks about an open nonce also if a payment above it has ended", async () => {
  const wallet = await driven.createFunded();
  const paid = await driven.accept(wallet, outside, modelCoin, 20n);
  const lostBytes = await restored.signLost(wallet, paid);
  // Both have their nonces before the signer refuses one of them.
  const stopSigning = () => {
    driven.ports.signer = {
      sign: () => Promise.reject(new SignerUnavailableError("the signer is stopped")),
    };
  };
  stopSigning();
  const [refused, above] = [
    await driven.pay(wallet, outside, modelCoin, 30n),
    await driven.pay(wallet, outside, modelCoin, 40n),
  ];
  await eventually(
    () => driven.nonceOf(above),
    (nonce) => nonce === 1,
  );
  driven.ports.signer = driven.honest.signer;
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect([await driven.nonceOf(refused), await driven.nonceOf(above)]).toEqual([null, 1]);
  driven.chain.send(lostBytes);
  const bytes = await driven.database.query<{ bytes: string }>(
    sql`SELECT '0x' || encode(bytes, 'hex') AS bytes FROM chain_attempts WHERE transaction_id = ${above}`,
  );
  for (const one of bytes) driven.chain.send(one.bytes);
  await driven.settle();
  await driven.until(above, "completed");
  expect(await adopted.refuseAdoption(wallet, 2)).toContain("was paid with nonce 0");
  await expectUnchanged(wallet, "2");
  expect(await statesOf(paid, refused)).toEqual(["accepted", "processing"]);
  // Resumed, and not compared with the chain: its nonce 0, which was taken back, is used.
  driven.ports.node = {
    ...driven.honest.node,
    balances: () => Promise.reject(new NodeUnavailableError("it has no state of this block")),
  };
  await adopted.resume(wallet);
  await eventually(
    () => adopted.readWallet(wallet),
    ({ code }) => code === "NONCE_USED_ELSEWHERE",
  );
  expect(await restored.isConfirmed(wallet)).toBe(false);
  driven.ports.node = driven.honest.node;
  await restored.look(wallet, paid);
  await adopted.untilAdopted(wallet, 2);
  await driven.until(paid, "completed");
  await driven.inPool(1);
  expect(await driven.nonceOf(refused)).toBe(2);
  await driven.settle();
  await driven.until(refused, "completed");
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
});

it("adopts nothing while the signer says nothing about the wallet", async () => {
  const wallet = await driven.createFunded();
  const paid = await driven.accept(wallet, outside, modelCoin, 20n);
  driven.chain.send(await adopted.forget(wallet, paid));
  await adopted.untilHalted(wallet);
  let asked = 0;
  driven.ports.signer = {
    ...driven.honest.signer,
    signedFrom: async (wallets) => {
      if (wallets.some(({ walletId }) => walletId === wallet.walletId)) asked += 1;
      return wallets.map(() => ({ refused: "WALLET_UNKNOWN", reason: "it is not known" }));
    },
  };
  await adopted.adopt(wallet);
  await eventually(
    async () => asked,
    (count) => count > 0,
  );
  await driven.settle();
  await expectUnchanged(wallet, "0");
  expect((await adopted.readWallet(wallet)).stated).toBe("1");
  driven.ports.signer = driven.honest.signer;
  await restored.look(wallet, paid);
  await adopted.untilAdopted(wallet);
  await driven.until(paid, "completed");
});
