import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SignerUnavailableError } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe("payments that get nonces while the signer works", () => {
  let driven: DrivenChain;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  afterAll(() => driven.stop());

  const nonceOf = (id: string, nonce: number) =>
    eventually(
      () => driven.nonceOf(id),
      (one) => one === nonce,
    );
  const haltOf = async ({ walletId }: ChainWallet) =>
    (
      await driven.database.query<{ code: string | null }>(
        sql`SELECT halted_code AS code FROM chain_wallets WHERE wallet_id = ${walletId}`,
      )
    )[0]?.code;

  it("are in order and paid once, though a signer is slow, its answer is lost and it refuses one wallet", async () => {
    const [first, second, refused] = [
      await driven.createFunded(),
      await driven.createFunded(),
      await driven.createFunded(),
    ];
    const { node, signer } = driven.honest;
    driven.ports.signer = { sign: () => Promise.reject(new SignerUnavailableError("it does not answer")) };
    const ids = [await driven.pay(first, outside, modelCoin, 1n)];
    await nonceOf(ids[0] ?? "", 0);

    const [estimating, asked, answered] = [createGate(), createGate(), createGate()];
    let isEstimating = false;
    driven.ports.node = {
      ...node,
      // Nothing is estimated before the signer is asked, so both must be under way together.
      estimate: async (drafts) => {
        isEstimating = true;
        estimating.open();
        await asked.opened;
        return await node.estimate(drafts);
      },
    };
    driven.ports.signer = {
      sign: async (intents) => {
        await Promise.race([estimating.opened, sleep(200)]);
        if (!isEstimating) throw new SignerUnavailableError("it does not answer");
        asked.open();
        await signer.sign(intents);
        await answered.opened;
        throw new SignerUnavailableError("its answer was lost");
      },
    };
    ids.push(
      await driven.pay(first, outside, modelCoin, 2n),
      await driven.pay(first, outside, modelCoin, 3n),
      await driven.pay(second, outside, modelCoin, 4n),
    );
    const bad = await driven.pay(refused, outside, modelCoin, 5n);
    driven.wake();
    // The signer still has the first payment.
    await nonceOf(ids[1] ?? "", 1);
    expect(driven.chain.pool()).toEqual([]);

    const refusal = { refused: "DIFFERENT_PAYMENT", reason: "it knows another one" } as const;
    driven.ports.signer = {
      sign: async (intents) => {
        const signed = await signer.sign(intents);
        return intents.map(({ transactionId }, index) =>
          transactionId === bad ? refusal : (signed[index] ?? refusal),
        );
      },
    };
    answered.open();
    driven.wake();
    await driven.inPool(4);
    await driven.settle();
    for (const id of ids) await driven.until(id, "completed");
    expect(await Promise.all(ids.map((id) => driven.nonceOf(id)))).toEqual([0, 1, 2, 0]);
    expect(balanceOf(driven.chain.final().balances, outside, modelCoin)).toBe(10n);
    expect([await haltOf(first), await haltOf(second), await haltOf(refused)]).toEqual([
      null,
      null,
      "SIGNER_REFUSED",
    ]);
    for (const error of driven.errors) expect(error).toBeInstanceOf(SignerUnavailableError);
  });
});
