import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { startRestoredChain } from "../../../harness/chain/start-restored-chain.js";
import { eventually } from "../../../harness/eventually.js";

/* The cases of docs/decisions/0067-confirmed-wallets.md that need an operator: `bursar wallet give-up` is the way out of each. */

const { driven, restored, adopted } = await startRestoredChain();

/** It pays with the next nonce, its books equal the chain, and nothing was recorded as missing, except for fees of what has not begun. */
async function expectSound(wallet: ChainWallet, missing = 0, nonce = 1): Promise<void> {
  const next = await driven.pay(wallet, outside, modelCoin, 10n);
  await driven.inPool(1);
  expect(await driven.nonceOf(next)).toBe(nonce);
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
  expect(await adopted.giveUp(wallet)).toEqual({
    refused: `The signer has signed nothing with nonce 0 of ${wallet.address}, or a later one.`,
  });
  await adopted.forget(wallet, "01900000-0000-7000-8000-000000000001");
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await eventually(
    async () => driven.shortages.some((reason) => reason.includes("bursar wallet give-up")),
    Boolean,
  );
  expect(await driven.nonceOf(id)).toBeNull();
  expect(await adopted.giveUp(wallet, 400n)).toMatchObject({ refused: "something else was signed before" });
  await adopted.sendGivenUp(wallet);
  await adopted.untilHalted(wallet);
  await adopted.untilAdopted(wallet);
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
    adopted.estimateNothing();
    const lostBytes = await adopted.forget(wallet, id);
    await driven.begin(wallet, id);
    return { wallet, id, lostBytes };
  }

  it("keeps it if it has a nonce in the database", async () => {
    const wallet = await driven.createFunded();
    await driven.pay(wallet, outside, modelCoin, 20n);
    await driven.inPool(1);
    expect(await adopted.giveUp(wallet)).toMatchObject({ refused: expect.stringContaining("Cancel it") });
    await driven.settle();
  });

  it("is cancelled when the empty transaction has used it, and the wallet goes on", async () => {
    const { wallet, id } = await beginBound();
    // The audit log says so also if the signer refuses the fee.
    expect(await adopted.giveUp(wallet, 1n)).toMatchObject({ refused: expect.any(String) });
    const rows = await driven.database.query(sql`
      SELECT o.cancel_requested AS "isCancelled", (
        SELECT count(*)::int FROM audit_entries e WHERE e.tenant_id = o.tenant_id AND action = 'wallet.give_up' AND object = ${wallet.walletId}) AS entries
      FROM open_transactions o WHERE o.id = ${id}
    `);
    expect(rows).toEqual([{ isCancelled: true, entries: 1 }]);
    await adopted.sendGivenUp(wallet);
    await adopted.untilHalted(wallet);
    expect((await driven.read(id)).state).toBe("processing");
    await adopted.untilAdopted(wallet);
    await driven.until(id, "cancelled");
    driven.ports.node = driven.honest.node;
    await expectSound(wallet);
  });

  it("is completed when the lost bytes have used it, although it was given up", async () => {
    const { wallet, id, lostBytes } = await beginBound();
    expect(await adopted.giveUp(wallet)).toMatchObject({ transactionId: id });
    driven.chain.send(lostBytes);
    await adopted.untilHalted(wallet);
    await adopted.untilAdopted(wallet);
    await driven.until(id, "completed");
    driven.ports.node = driven.honest.node;
    await expectSound(wallet);
  });

  it("is cancelled if it cannot begin, because the books do not have what it pays", async () => {
    const wallet = await driven.createFunded(1_000_000_000n);
    const id = await driven.accept(wallet, outside, modelCoin, 2_000_000_000n);
    await adopted.forget(wallet, id);
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("accepted");
    await adopted.sendGivenUp(wallet);
    await adopted.untilHalted(wallet);
    await adopted.untilAdopted(wallet);
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("cancelled");
    await expectSound(wallet, 1);
  });

  it("does not end if its lost bytes have used it and it has not begun; it is completed when it has", async () => {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    driven.chain.send(await adopted.forget(wallet, id));
    await adopted.untilHalted(wallet);
    await adopted.adopt(wallet);
    await eventually(
      () => adopted.readWallet(wallet),
      ({ reason }) => reason?.includes(" was paid with nonce 0") === true,
    );
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("processing");
    await adopted.untilAdopted(wallet);
    await driven.until(id, "completed");
    await expectSound(wallet);
  });

  it("is cancelled if another payment had its nonce in the database, and that one is paid with the next", async () => {
    const wallet = await driven.createFunded();
    const id = await driven.accept(wallet, outside, modelCoin, 20n);
    await restored.signLost(wallet, id);
    const other = await driven.pay(wallet, outside, modelCoin, 30n);
    await eventually(
      () => driven.halts(),
      (halts) => halts.some(({ code }) => code === "SIGNER_REFUSED"),
    );
    expect(await driven.nonceOf(other)).toBeNull();
    await adopted.sendGivenUp(wallet);
    await driven.settle();
    await adopted.untilAdopted(wallet);
    await driven.inPool(1);
    expect(await driven.nonceOf(other)).toBe(1);
    await driven.settle();
    await driven.until(other, "completed");
    await restored.look(wallet, id);
    expect((await driven.read(id)).state).toBe("cancelled");
    await expectSound(wallet, 1, 2);
  });
});
