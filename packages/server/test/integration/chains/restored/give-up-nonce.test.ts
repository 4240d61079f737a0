import { afterAll, beforeAll, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { giveUpNonce } from "../../../../src/rails/evm/give-up-nonce.js";
import { isOpen, stateNonce } from "../../../../src/store/chain/resume-chain.js";
import { sql } from "../../../../src/store/core/sql.js";
import type { ChainWallet } from "../../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

let driven: DrivenChain;
beforeAll(async () => {
  driven = await startDrivenChain();
});
afterAll(() => driven.stop());

/** The signer has signed a transaction with the first nonce, and the wallet has not been confirmed since. */
async function forget(wallet: ChainWallet, transactionId: string): Promise<void> {
  const { tenantId, walletId, address } = wallet;
  await driven.honest.signer.sign([
    {
      ...{ tenantId, walletId, address, transactionId, network: modelNetwork, nonce: 0 },
      ...{ purpose: "payment", contract: null, destination: outside, amount: 20n, gasLimit: 21_000n },
      ...{ maxFeePerGas: 400n, maxPriorityFeePerGas: 4n },
    },
  ]);
  await driven.database.query(
    sql`UPDATE chain_wallets SET confirmed_epoch = 0 WHERE wallet_id = ${wallet.walletId}`,
  );
}

const giveUp = (wallet: ChainWallet, maxFeePerGas: bigint) =>
  giveUpNonce(
    {
      signer: driven.honest.signer,
      isOpen: (id) => isOpen(driven.keyed, { tenantId: wallet.tenantId, id }),
    },
    { ...wallet, network: modelNetwork },
    { nonce: 0, gasLimit: 21_000n, maxFeePerGas, maxPriorityFeePerGas: 5n },
  );

it("a nonce that the signer has bound to a transaction that is lost is given up, and the wallet goes on", async () => {
  const wallet = await driven.createFunded();
  expect(await giveUp(wallet, 500n)).toEqual({
    refused: `The signer has signed nothing with nonce 0 of ${wallet.address}.`,
  });
  await forget(wallet, "00000000-0000-7000-8000-00000000dead");
  const id = await driven.pay(wallet, outside, modelCoin, 10n);
  await eventually(
    async () => driven.shortages.some((reason) => reason.includes("with nonce 0, and the database")),
    Boolean,
  );
  expect(await driven.nonceOf(id)).toBeNull();
  expect(await giveUp(wallet, 400n)).toMatchObject({ refused: "something else was signed before" });
  const outcome = await giveUp(wallet, 500n);
  driven.chain.send("bytes" in outcome ? outcome.bytes : "");
  await driven.settle();
  await eventually(
    () => driven.halts(),
    (halts) => halts.some(({ code }) => code === "NONCE_USED_ELSEWHERE"),
  );
  const { tenantId, walletId } = wallet;
  const entry = describeAct({ by: "operator", tenantId }, "wallet.adopt", walletId, new Date());
  await stateNonce(driven.keyed, wallet, { nonce: 1, paysWaiting: true }, entry);
  await driven.settle();
  await driven.inPool(1);
  expect(await driven.nonceOf(id)).toBe(1);
  await driven.settle();
  await driven.until(id, "completed");
});

it("the nonce of a payment that is open is not given up", async () => {
  const wallet = await driven.createFunded();
  const id = await driven.accept(wallet, outside, modelCoin, 20n);
  await forget(wallet, id);
  expect(await giveUp(wallet, 500n)).toMatchObject({ refused: expect.stringContaining("Cancel it") });
});
