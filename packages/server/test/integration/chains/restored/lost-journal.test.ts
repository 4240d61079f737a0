import { beforeEach, expect, it } from "vitest";
import type { Signer } from "../../../../src/app/chain/signer.js";
import { currentEpoch } from "../../../../src/store/chain/wallets/confirmed-wallets.js";
import { sql } from "../../../../src/store/core/sql.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { createModelSigner } from "../../../harness/chain/model-signer.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/*
 * The signer has refused a payment, because it has signed it with nonce 1, and its journal is restored from an earlier backup then. Only the database
 * knows the nonce, and the bytes may be in a pool.
 */

const { driven, restored, adopted } = await startRestoredChain();
const honest = driven.honest.signer;

beforeEach(() => {
  driven.honest.signer = honest;
  driven.ports.signer = honest;
  driven.shortages.length = 0;
});

/** Payments that were signed with nonces 0 and 1 in lost commits, of which the second was refused nonce 0. */
async function loseTwo() {
  const wallet = await driven.createFunded();
  const first = await driven.accept(wallet, outside, modelCoin, 20n);
  const second = await driven.accept(wallet, outside, modelCoin, 20n);
  const bytes = [await restored.signLost(wallet, first), await restored.signLost(wallet, second, 1)];
  await driven.begin(wallet, second);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await driven.nonceOf(second)).toBeNull();
  return { wallet, first, second, bytes };
}

/** From now on it knows only what it signs from now on. */
function loseJournal(): Signer {
  const signer = createModelSigner(async () => undefined);
  driven.honest.signer = signer;
  driven.ports.signer = signer;
  return signer;
}

async function expectCompleted(ids: readonly string[], nonces: readonly number[]): Promise<void> {
  await eventually(
    async () => {
      driven.mine();
      return await Promise.all(ids.map(async (id) => (await driven.read(id)).state));
    },
    (states) => states.every((state) => state === "completed"),
    20_000,
  );
  expect(await Promise.all(ids.map(driven.nonceOf))).toEqual(nonces);
}

const untilReported = (words: string) =>
  eventually(
    () => driven.shortages.some((reason) => reason.includes(words)),
    (isReported) => isReported,
    20_000,
  );

it("gives the nonce to the payment again, and to no other", async () => {
  const { wallet, first, second } = await loseTwo();
  loseJournal();
  await restored.signLost(wallet, first);
  await adopted.resume(wallet);
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.begin(wallet, first);
  await expectCompleted([first, second, next], [0, 1, 2]);
});

it("completes the payment when the wallet is adopted, if its lost bytes are final", async () => {
  const { wallet, first, second, bytes } = await loseTwo();
  loseJournal();
  await restored.signLost(wallet, first);
  await driven.begin(wallet, first);
  for (const one of bytes) driven.chain.send(one);
  await driven.settle();
  await adopted.resume(wallet);
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet, 2);
  await expectCompleted([first, second], [0, 1]);
});

it("fills no nonce below it with another payment: that one may have been signed too", async () => {
  const { wallet, second } = await loseTwo();
  loseJournal();
  await adopted.resume(wallet);
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await untilReported("does not list it any more");
  expect(await driven.nonceOf(next)).toBeNull();
  await adopted.sendGivenUp(wallet);
  await adopted.untilHalted(wallet);
  await adopted.untilResumed(wallet);
  await expectCompleted([second, next], [1, 2]);
});

it("halts a wallet that counts as confirmed although the nonce of such a payment is free", async () => {
  const { wallet, second } = await loseTwo();
  loseJournal();
  await adopted.resume(wallet);
  await untilReported("does not list it any more");
  // As a process of an earlier version does.
  await driven.database.query(
    sql`UPDATE chain_wallets SET confirmed_epoch = ${currentEpoch} WHERE wallet_id = ${wallet.walletId}`,
  );
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  expect(await Promise.all([second, next].map(driven.nonceOf))).toEqual([null, null]);
  // The journal is back for the next test, and the look at this wallet shows it: later that would be a doubt of the next test's wallet.
  driven.shortages.length = 0;
  driven.honest.signer = honest;
  driven.ports.signer = honest;
  await untilReported("all wallets are doubted");
});

it("doubts nothing when the newest journal is back: the database knows the nonce from the refusal", async () => {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, id, 1);
  await driven.begin(wallet, id);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  loseJournal();
  await adopted.resume(wallet);
  await untilReported("does not list it any more");
  await driven.database.query(sql`
    UPDATE chain_wallets SET confirmed_epoch = ${currentEpoch}, reclaimed_from = NULL WHERE wallet_id = ${wallet.walletId}
  `);
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await adopted.untilHalted(wallet, "SIGNER_REFUSED");
  const countDoubts = () => driven.database.query(sql`SELECT number FROM wallet_doubts`);
  const before = await countDoubts();
  const asked: string[] = [];
  const answering: Signer = {
    ...honest,
    signedFrom: (wallets) => {
      asked.push(...wallets.map(({ walletId }) => walletId));
      return honest.signedFrom(wallets);
    },
  };
  driven.honest.signer = answering;
  driven.ports.signer = answering;
  // It is asked about while it is halted, and again when it is resumed.
  await eventually(
    () => asked.filter((walletId) => walletId === wallet.walletId).length,
    (count) => count >= 2,
    20_000,
  );
  expect(await countDoubts()).toEqual(before);
  await adopted.resume(wallet);
  await expectCompleted([next, id], [0, 1]);
  expect(await countDoubts()).toEqual(before);
});
