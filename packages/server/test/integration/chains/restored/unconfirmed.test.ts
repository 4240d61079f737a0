import { showId } from "@bursar/protocol";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createBatchCanceller } from "../../../../src/app/transactions/cancel-transactions.js";
import { sql } from "../../../../src/store/core/sql.js";
import { createEventLog } from "../../../../src/store/events/events.js";
import { createWalletStore } from "../../../../src/store/wallets/wallets.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* After `bursar recover`, payments without a nonce may have been made in the commits that were lost. */

let driven: DrivenChain;
let restored: ReturnType<typeof createRestoredChain>;
beforeAll(async () => {
  driven = await startDrivenChain();
  restored = createRestoredChain(driven);
});
afterEach(() => {
  driven.ports.signer = driven.honest.signer;
  expect(
    driven.errors.splice(0).filter((error) => !/is down|the database has changed/.test(String(error))),
  ).toEqual([]);
});
afterAll(() => driven.stop());

const down = async () => {
  throw new Error("the signer is down");
};

it("says in `sending` of a wallet why its payments wait", async () => {
  const { tenantId, walletId } = await driven.createFunded();
  const wallets = createWalletStore(driven.keyed, createEventLog({ publish: () => undefined }));
  const blockedBy = async () => (await wallets.readWallet(tenantId, walletId))?.sending?.blockedBy;
  expect(await blockedBy()).toBeNull();
  driven.ports.signer = { ...driven.honest.signer, signedFrom: down };
  await restored.recover();
  expect(await blockedBy()).toBe("unconfirmed");
  await driven.database.query(
    sql`UPDATE networks SET state = 'halted', halted_reason = 'test', halted_at = now()`,
  );
  expect(await blockedBy()).toBe("network_halted");
  const halt = (reason: string | null) =>
    driven.database.query(
      sql`UPDATE chain_wallets SET halted_reason = ${reason}, halted_at = CASE WHEN ${reason}::text IS NOT NULL THEN now() END WHERE wallet_id = ${walletId}`,
    );
  await halt("test");
  expect(await blockedBy()).toBe("wallet_halted");
  await halt(null);
  await driven.database.query(
    sql`UPDATE networks SET state = 'following', halted_reason = NULL, halted_at = NULL`,
  );
  driven.ports.signer = driven.honest.signer;
  await eventually(blockedBy, (one) => one === null, 20_000);
});

it("a payment that has not begun is not cancelled before the signer was asked, by its client or with it", async () => {
  const wallet = await driven.createFunded();
  const [one, other] = [
    await driven.accept(wallet, outside, modelCoin, 10n),
    await driven.accept(wallet, outside, modelCoin, 20n),
  ];
  driven.ports.signer = { ...driven.honest.signer, signedFrom: down };
  await restored.recover();
  await restored.cancel(wallet, one);
  const cancelAll = createBatchCanceller({
    ...restored.settlementDeps(),
    isLockTimeout: () => false,
    onError: () => undefined,
  });
  expect(await cancelAll(wallet.tenantId, [other], null)).toBe(0);
  expect((await driven.read(one)).state).toBe("accepted");
  expect((await driven.read(other)).state).toBe("accepted");
  // Its rail ends nothing either, and gives no nonce.
  await driven.begin(wallet, one);
  const paid = await driven.pay(wallet, outside, modelCoin, 30n);
  await eventually(
    async () => driven.errors.length,
    (count) => count >= 3,
  );
  expect((await driven.read(one)).state).toBe("processing");
  expect(await driven.nonceOf(paid)).toBeNull();
  driven.ports.signer = driven.honest.signer;
  await restored.untilConfirmed(wallet);
  await driven.until(one, "cancelled");
  await driven.inPool(1);
  await driven.settle();
  await driven.until(paid, "completed");
  await restored.cancel(wallet, other);
  expect((await driven.read(other)).state).toBe("cancelled");
});

it("a cancellation does not wait until the engine looks again at what could not end", async () => {
  const wallet = await driven.createFunded(1000n);
  const id = await driven.accept(wallet, outside, modelCoin, 2000n);
  driven.ports.signer = { ...driven.honest.signer, signedFrom: down };
  await restored.recover();
  await restored.look(wallet, id);
  const isPutOff = async () => {
    const rows = await driven.database.query(
      sql`SELECT FROM open_transactions WHERE id = ${id} AND retry_at > now()`,
    );
    return rows.length === 1;
  };
  expect(await isPutOff()).toBe(true);
  await restored.cancel(wallet, id);
  expect(await isPutOff()).toBe(false);
});

it("a payment that the signer has signed gets its nonce again before others, and an empty transaction if it was cancelled", async () => {
  const wallet = await driven.createFunded();
  const behind = await driven.accept(wallet, outside, modelCoin, 30n);
  const forgotten = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, forgotten);
  await restored.recover();
  await restored.cancel(wallet, forgotten);
  await driven.begin(wallet, behind);
  await eventually(
    async () => driven.shortages.some((reason) => reason.includes("with nonce 0, and the database")),
    Boolean,
  );
  expect(await driven.nonceOf(behind)).toBeNull();
  expect(await restored.isConfirmed(wallet)).toBe(false);
  await driven.begin(wallet, forgotten);
  await restored.untilConfirmed(wallet);
  await driven.inPool(2);
  const sent = driven.chain.pool().map(({ intent }) => `${intent?.nonce} ${intent?.purpose}`);
  expect(sent.toSorted()).toEqual(["0 cancellation", "1 payment"]);
  await driven.settle();
  await driven.until(forgotten, "cancelled");
  await driven.until(behind, "completed");
});

it("a payment that the signer has signed does not fail if the books cannot hold its fee: it waits for coins, and is paid once", async () => {
  const wallet = await driven.createFunded(1000n);
  const paid = () => balanceOf(driven.chain.head().balances, outside, modelCoin);
  const paidBefore = paid();
  const forgotten = await driven.accept(wallet, outside, modelCoin, 20n);
  await restored.signLost(wallet, forgotten);
  await restored.recover();
  await driven.begin(wallet, forgotten);
  await eventually(
    async () => driven.shortages.filter((reason) => reason.includes("must be held for its fee")).length,
    (count) => count >= 2,
  );
  expect((await driven.read(forgotten)).state).toBe("processing");
  expect(await driven.nonceOf(forgotten)).toBeNull();
  expect(await restored.isConfirmed(wallet)).toBe(false);
  const { address } = wallet;
  driven.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1_000_000_000n }]);
  await driven.settle();
  await restored.untilConfirmed(wallet);
  expect(await driven.nonceOf(forgotten)).toBe(0);
  await driven.inPool(1);
  await driven.settle();
  expect(await driven.until(forgotten, "completed")).toMatchObject({ failure: null });
  expect(paid() - paidBefore).toBe(20n);
});

it("a wallet that cannot be confirmed is halted, and the others are confirmed", async () => {
  const [faulty, healthy] = [await driven.createFunded(), await driven.createFunded()];
  await driven.database.run(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''it is refused''; END';
    CREATE TRIGGER refuse BEFORE UPDATE OF confirmed_epoch ON chain_wallets FOR EACH ROW
      WHEN (new.wallet_id = '${faulty.walletId}' AND new.confirmed_epoch > old.confirmed_epoch) EXECUTE FUNCTION refuse()`);
  await restored.recover();
  await restored.untilConfirmed(healthy);
  await eventually(
    () => driven.halts(),
    (halts) =>
      halts.some(
        ({ code, object }) => code === "PAYMENT_AT_FAULT" && object === showId("wlt", faulty.walletId),
      ),
  );
  expect(await restored.isConfirmed(faulty)).toBe(false);
  await driven.database.run("DROP TRIGGER refuse ON chain_wallets; DROP FUNCTION refuse");
  await restored.untilConfirmed(faulty);
});

it("a wallet that the chain is ahead of is halted although nothing is to be paid", async () => {
  const wallet = await driven.createFunded();
  driven.chain.useNonce(wallet.address);
  await driven.settle();
  await restored.recover();
  await eventually(
    () => driven.halts(),
    (halts) => halts.some(({ code }) => code === "NONCE_USED_ELSEWHERE"),
  );
});
