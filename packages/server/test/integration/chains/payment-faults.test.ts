import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import type { ChainWallet } from "../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

describe("a payment on a chain that cannot be processed", () => {
  let driven: DrivenChain;
  let faulty: ChainWallet;
  let healthy: ChainWallet;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  beforeEach(async () => {
    [faulty, healthy] = [await driven.createFunded(), await driven.createFunded()];
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
  });
  afterAll(() => driven.stop());

  const setState = (id: string, state: string) =>
    driven.database.query(sql`UPDATE open_transactions SET state = ${state} WHERE id = ${id}`);
  const haltOf = async ({ walletId }: ChainWallet) =>
    (
      await driven.database.query<{ reason: string | null }>(
        sql`SELECT halted_reason AS reason FROM chain_wallets WHERE wallet_id = ${walletId}`,
      )
    )[0]?.reason;
  const halted = () =>
    eventually(
      () => haltOf(faulty),
      (reason) => typeof reason === "string",
    );
  async function expectOthersPaid(ids: readonly string[]): Promise<void> {
    for (const id of ids) await driven.until(id, "broadcast");
    await driven.inPool(ids.length);
    await driven.settle();
    for (const id of ids) await driven.until(id, "completed");
    expect(await haltOf(healthy)).toBeNull();
    expect(driven.errors).toEqual([]);
  }

  it("halts its wallet when it should get a nonce, and the others are paid", async () => {
    const release = holdAssignment();
    const bad = await driven.pay(faulty, outside, modelCoin, 1n);
    await setState(bad, "accepted");
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    release();
    expect(await halted()).toContain(`reserve_fee of the transaction ${bad}`);
    expect(await driven.nonceOf(bad)).toBeNull();
    await expectOthersPaid(ids);
  });

  it("halts its wallet when its bytes should be stored, and the others are paid", async () => {
    let bad = "";
    driven.ports.signer = {
      sign: async (intents) => {
        if (intents.some(({ transactionId }) => transactionId === bad)) await setState(bad, "accepted");
        return await driven.honest.signer.sign(intents);
      },
    };
    const release = holdAssignment();
    bad = await driven.pay(faulty, outside, modelCoin, 1n);
    const ids = [await driven.pay(healthy, outside, modelCoin, 2n)];
    release();
    expect(await halted()).toContain(`broadcast of the transaction ${bad}`);
    await expectOthersPaid(ids);
  });

  it("that was paid and is put back to be paid again is not, and the wallet's others are paid", async () => {
    // As many as the wallet may have in flight.
    const first: string[] = [];
    for (let count = 0; count < 4; count++) first.push(await driven.pay(faulty, outside, modelCoin, 1n));
    await driven.inPool(4);
    await driven.settle();
    for (const id of first) await driven.until(id, "completed");
    await driven.database.query(sql`
      UPDATE chain_payments SET stage = 'ready', nonce = NULL WHERE transaction_id = ANY (${first}::uuid[])
    `);
    const ids = [
      await driven.pay(faulty, outside, modelCoin, 3n),
      await driven.pay(healthy, outside, modelCoin, 2n),
    ];
    await expectOthersPaid(ids);
    for (const id of first) expect(await driven.nonceOf(id)).toBeNull();
  });

  /** Nothing gets a nonce until it is released. */
  function holdAssignment(): () => void {
    const { node } = driven.honest;
    driven.ports.node = {
      ...node,
      estimate: async (drafts) => drafts.map(() => ({ refused: "UNAVAILABLE" })),
    };
    return () => {
      driven.ports.node = node;
    };
  }
});
