import { randomUUID } from "node:crypto";
import { showId } from "@bursar/protocol";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { ClientOrigin } from "../../../../src/app/audit/audit-entry.js";
import { createTransactionCanceller } from "../../../../src/app/transactions/cancel-transaction.js";
import { createBatchCanceller } from "../../../../src/app/transactions/cancel-transactions.js";
import { createChangeHub } from "../../../../src/app/transactions/change-hub.js";
import { createKeyring } from "../../../../src/credentials/keyring.js";
import { createSealing } from "../../../../src/credentials/sealing.js";
import { makeTokenKey } from "../../../../src/credentials/token-keys.js";
import { createEvmRail } from "../../../../src/rails/evm/evm-rail.js";
import { nodeTimers } from "../../../../src/runtime/loops/timers.js";
import { isDatabaseUnavailable } from "../../../../src/store/core/database.js";
import { sql } from "../../../../src/store/core/sql.js";
import { createEventLog } from "../../../../src/store/events/events.js";
import { recoverDatabase } from "../../../../src/store/recovery/recover-database.js";
import { createSettlementStore } from "../../../../src/store/transactions/settlement.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

/* After `bursar recover`, payments without a nonce may have been made in the commits that were lost. */

let driven: DrivenChain;
beforeAll(async () => {
  driven = await startDrivenChain();
});
afterEach(() => {
  driven.ports.signer = driven.honest.signer;
  expect(
    driven.errors.splice(0).filter((error) => !/is down|the database has changed/.test(String(error))),
  ).toEqual([]);
});
afterAll(() => driven.stop());

async function recover(): Promise<void> {
  const tokenKey = makeTokenKey(
    createSealing(createKeyring([Buffer.alloc(32, 7)])),
    randomUUID(),
    Date.now(),
  );
  const recovery = { key: tokenKey.id, lift: 1, past: 0, tokenKey, now: new Date() };
  // What runs across the change fails, as in a service.
  await eventually(
    () =>
      recoverDatabase(driven.keyed, recovery).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) throw error;
        return undefined;
      }),
    (epoch) => epoch?.isRepeated === true,
  );
}

const deps = () => ({
  settlements: createSettlementStore(driven.keyed, createEventLog({ publish: () => undefined })),
  rails: { get: () => createEvmRail(modelChainNetwork) },
  changes: createChangeHub(nodeTimers),
  now: Date.now,
});

function cancel({ tenantId }: ChainWallet, id: string) {
  const act = createTransactionCanceller({
    ...deps(),
    stopInAnyCase: (_, stop) => stop.act(),
    read: async () => ({ refused: "NOT_FOUND" }),
    onRequested: driven.wake,
    audit: { recordAct: () => undefined },
  });
  return act({ principal: { tenantId, clientId: tenantId } } as ClientOrigin, id);
}

const isConfirmed = async ({ walletId }: ChainWallet) => {
  const [row] = await driven.database.query<{ is: boolean }>(sql`
    SELECT confirmed_epoch = (SELECT max(number) FROM database_epochs) AS is FROM chain_wallets WHERE wallet_id = ${walletId}
  `);
  return row?.is;
};
const untilConfirmed = (wallet: ChainWallet) => eventually(() => isConfirmed(wallet), Boolean);
const down = async () => {
  throw new Error("the signer is down");
};

/** The signer has signed a payment of 20 with the first nonce, in a commit that is lost. */
const sign = ({ tenantId, walletId, address }: ChainWallet, transactionId: string) =>
  driven.honest.signer.sign([
    {
      ...{ tenantId, walletId, address, transactionId, network: modelNetwork, nonce: 0 },
      ...{ purpose: "payment", contract: null, destination: outside, amount: 20n, gasLimit: 21_000n },
      ...{ maxFeePerGas: 400n, maxPriorityFeePerGas: 4n },
    },
  ]);

it("a payment that has not begun is not cancelled before the signer was asked, by its client or with it", async () => {
  const wallet = await driven.createFunded();
  const [one, other] = [
    await driven.accept(wallet, outside, modelCoin, 10n),
    await driven.accept(wallet, outside, modelCoin, 20n),
  ];
  driven.ports.signer = { ...driven.honest.signer, signedFrom: down };
  await recover();
  await cancel(wallet, one);
  const cancelAll = createBatchCanceller({ ...deps(), isLockTimeout: () => false, onError: () => undefined });
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
  await untilConfirmed(wallet);
  await driven.until(one, "cancelled");
  await driven.inPool(1);
  await driven.settle();
  await driven.until(paid, "completed");
  await cancel(wallet, other);
  expect((await driven.read(other)).state).toBe("cancelled");
});

it("a payment that the signer has signed gets its nonce again before others, and an empty transaction if it was cancelled", async () => {
  const wallet = await driven.createFunded();
  const behind = await driven.accept(wallet, outside, modelCoin, 30n);
  const forgotten = await driven.accept(wallet, outside, modelCoin, 20n);
  await sign(wallet, forgotten);
  await recover();
  await cancel(wallet, forgotten);
  await driven.begin(wallet, behind);
  await eventually(
    async () => driven.shortages.some((reason) => reason.includes("with nonce 0, and the database")),
    Boolean,
  );
  expect(await driven.nonceOf(behind)).toBeNull();
  expect(await isConfirmed(wallet)).toBe(false);
  await driven.begin(wallet, forgotten);
  await untilConfirmed(wallet);
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
  await sign(wallet, forgotten);
  await recover();
  await driven.begin(wallet, forgotten);
  await eventually(
    async () => driven.shortages.filter((reason) => reason.includes("must be held for its fee")).length,
    (count) => count >= 2,
  );
  expect((await driven.read(forgotten)).state).toBe("processing");
  expect(await driven.nonceOf(forgotten)).toBeNull();
  expect(await isConfirmed(wallet)).toBe(false);
  const { address } = wallet;
  driven.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1_000_000_000n }]);
  await driven.settle();
  await untilConfirmed(wallet);
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
  await recover();
  await untilConfirmed(healthy);
  await eventually(
    () => driven.halts(),
    (halts) =>
      halts.some(
        ({ code, object }) => code === "PAYMENT_AT_FAULT" && object === showId("wlt", faulty.walletId),
      ),
  );
  expect(await isConfirmed(faulty)).toBe(false);
  await driven.database.run("DROP TRIGGER refuse ON chain_wallets; DROP FUNCTION refuse");
  await untilConfirmed(faulty);
});

it("a wallet that the chain is ahead of is halted although nothing is to be paid", async () => {
  const wallet = await driven.createFunded();
  driven.chain.useNonce(wallet.address);
  await driven.settle();
  await recover();
  await eventually(
    () => driven.halts(),
    (halts) => halts.some(({ code }) => code === "NONCE_USED_ELSEWHERE"),
  );
});
