import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { giveUpNonce } from "../../../../src/rails/evm/give-up-nonce.js";
import { findOpen, stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { createRestoredChain } from "../../../harness/chain/restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* The cases of docs/decisions/0067-confirmed-wallets.md that need an operator: `bursar wallet give-up` is the way out of each. */

let driven: DrivenChain;
let restored: ReturnType<typeof createRestoredChain>;
beforeAll(async () => {
  driven = await startDrivenChain();
  restored = createRestoredChain(driven);
});
afterEach(() => {
  driven.ports.node = driven.honest.node;
});
afterAll(() => driven.stop());

/** The signer has signed a transaction with the first nonce, and the wallet has not been confirmed since. Returns the bytes. */
async function forget(wallet: ChainWallet, transactionId: string): Promise<string> {
  const bytes = await restored.signLost(wallet, transactionId);
  await driven.database.query(
    sql`UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id = ${wallet.walletId}`,
  );
  return bytes;
}

const giveUp = (wallet: ChainWallet, maxFeePerGas = 500n) =>
  giveUpNonce(
    {
      signer: driven.honest.signer,
      findOpen: (id) => findOpen(driven.keyed, { tenantId: wallet.tenantId, id }),
      requestCancel: (id) => driven.requestCancel(wallet, id),
    },
    { ...wallet, network: modelNetwork },
    { nonce: 0, gasLimit: 21_000n, maxFeePerGas, maxPriorityFeePerGas: 5n },
  );

/** Sends what the operator was given. */
async function sendGivenUp(wallet: ChainWallet): Promise<void> {
  const outcome = await giveUp(wallet);
  driven.chain.send("bytes" in outcome ? outcome.bytes : JSON.stringify(outcome));
}

async function untilHalted({ walletId }: ChainWallet): Promise<void> {
  await driven.settle();
  await eventually(
    () =>
      driven.database.query(sql`
        SELECT FROM chain_wallets WHERE wallet_id = ${walletId} AND halted_code = 'NONCE_USED_ELSEWHERE'`),
    (rows) => rows.length === 1,
  );
}

async function adopt(wallet: ChainWallet): Promise<void> {
  const { tenantId, walletId } = wallet;
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", walletId, new Date());
  await stateNonce(driven.keyed, wallet, { nonce: 1, paysWaiting: true }, entry);
  await driven.settle();
}

/** What was found in a block ends with the next one, and the wallet is compared again then. */
async function untilAdopted(wallet: ChainWallet): Promise<void> {
  await adopt(wallet);
  await eventually(
    async () => {
      driven.mine();
      return await driven.database.query(sql`
        SELECT FROM chain_wallets WHERE wallet_id = ${wallet.walletId} AND final_nonce = 1 AND halted_code IS NULL`);
    },
    (rows) => rows.length === 1,
  );
  await restored.untilConfirmed(wallet);
}

/** It pays with the next nonce, its books equal the chain, and nothing was recorded as missing, except for fees of what has not begun. */
async function expectSound(wallet: ChainWallet, missing = 0): Promise<void> {
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.inPool(1);
  expect(await driven.nonceOf(next)).toBe(1);
  await driven.settle();
  await driven.until(next, "completed");
  const onChain = balanceOf(driven.chain.final().balances, wallet.address, modelCoin);
  expect(await driven.booked(wallet, modelCoin)).toBe(onChain);
  expect(
    await driven.database.query(sql`
      SELECT id FROM transactions WHERE source_account_id = ${wallet.walletId} AND reference LIKE 'missing %'
    `),
  ).toHaveLength(missing);
}

it("a nonce that the signer has bound to a transaction that is lost is given up, and the wallet goes on", async () => {
  const wallet = await driven.createFunded();
  expect(await giveUp(wallet)).toEqual({
    refused: `The signer has signed nothing with nonce 0 of ${wallet.address}.`,
  });
  await forget(wallet, "01900000-0000-7000-8000-000000000001");
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await eventually(
    async () => driven.shortages.some((reason) => reason.includes("bursar wallet give-up")),
    Boolean,
  );
  expect(await driven.nonceOf(id)).toBeNull();
  expect(await giveUp(wallet, 400n)).toMatchObject({ refused: "something else was signed before" });
  await sendGivenUp(wallet);
  await untilHalted(wallet);
  await untilAdopted(wallet);
  await driven.inPool(1);
  expect(await driven.nonceOf(id)).toBe(1);
  await driven.settle();
  await driven.until(id, "completed");
});

describe("a payment that is open and that the signer has bound to a nonce", () => {
  /** It has begun, and no node estimates anything, so that it does not get its nonce again. */
  async function beginBound(): Promise<{ wallet: ChainWallet; id: string; lostBytes: string }> {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    driven.ports.node = {
      ...driven.honest.node,
      estimate: async (drafts) => drafts.map(() => ({ refused: "UNAVAILABLE" })),
    };
    const lostBytes = await forget(wallet, id);
    await driven.begin(wallet, id);
    return { wallet, id, lostBytes };
  }

  it("keeps it if it has a nonce in the database", async () => {
    const wallet = await driven.createFunded();
    await driven.pay(wallet, outside, modelCoin, 20n);
    await driven.inPool(1);
    expect(await giveUp(wallet)).toMatchObject({ refused: expect.stringContaining("Cancel it") });
    await driven.settle();
  });

  it("is cancelled when the empty transaction has used it, and the wallet goes on", async () => {
    const { wallet, id } = await beginBound();
    await sendGivenUp(wallet);
    await untilHalted(wallet);
    expect((await driven.read(id)).state).toBe("processing");
    await untilAdopted(wallet);
    await driven.until(id, "cancelled");
    driven.ports.node = driven.honest.node;
    await expectSound(wallet);
  });

  it("is completed when the lost bytes have used it, although it was given up", async () => {
    const { wallet, id, lostBytes } = await beginBound();
    expect(await giveUp(wallet)).toMatchObject({ transactionId: id });
    driven.chain.send(lostBytes);
    await untilHalted(wallet);
    await untilAdopted(wallet);
    await driven.until(id, "completed");
    driven.ports.node = driven.honest.node;
    await expectSound(wallet);
  });

  it("is cancelled if it cannot begin, because the books do not have what it pays", async () => {
    const wallet = await driven.createFunded(1_000_000_000n);
    const id = await driven.accept(wallet, outside, modelCoin, 2_000_000_000n);
    await forget(wallet, id);
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("accepted");
    await sendGivenUp(wallet);
    await untilHalted(wallet);
    await untilAdopted(wallet);
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("cancelled");
    await expectSound(wallet, 1);
  });

  it("does not end if its lost bytes have used it and it has not begun; it is completed when it has", async () => {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    driven.chain.send(await forget(wallet, id));
    await untilHalted(wallet);
    await adopt(wallet);
    await eventually(
      () =>
        driven.database.query(sql`
          SELECT FROM chain_wallets WHERE wallet_id = ${wallet.walletId} AND halted_reason LIKE '% was paid with nonce 0%'`),
      (rows) => rows.length === 1,
    );
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("processing");
    await untilAdopted(wallet);
    await driven.until(id, "completed");
    await expectSound(wallet);
  });

  it("is cancelled if another payment has its nonce in the database, and that one fails", async () => {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    await restored.signLost(wallet, id);
    const other = await driven.pay(wallet, outside, modelCoin, 30n);
    await eventually(
      () => driven.halts(),
      (halts) => halts.some(({ code }) => code === "SIGNER_REFUSED"),
    );
    expect(await driven.nonceOf(other)).toBe(0);
    await sendGivenUp(wallet);
    await driven.settle();
    await untilAdopted(wallet);
    expect(await driven.until(other, "failed")).toMatchObject({ failure: "NONCE_TAKEN" });
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("cancelled");
    await expectSound(wallet, 1);
  });
});
