import { afterEach, beforeEach, expect, it } from "vitest";
import type { Signer } from "../../../../src/app/chain/signer.js";
import { sql } from "../../../../src/store/core/sql.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

let driven: DrivenChain;
beforeEach(async () => {
  driven = await startDrivenChain();
});
afterEach(() => driven.stop());

it("does not raise the fees of a payment while a lower nonce of its wallet is not signed", async () => {
  const wallet = await driven.createFunded();
  const other = await driven.createFunded();
  const first = await driven.accept(wallet, outside, modelCoin, 1n);
  const second = await driven.accept(wallet, outside, modelCoin, 2n);
  const sign: Signer["sign"] = async (intents) => {
    const signed = await driven.honest.signer.sign(intents);
    const refusal = { refused: "FEE_ABOVE_LIMIT", reason: "the limit is lower" } as const;
    return intents.map(({ transactionId }, index) =>
      transactionId === first ? refusal : (signed[index] ?? refusal),
    );
  };
  driven.ports.signer = { sign };
  await driven.begin(wallet, first);
  await eventually(
    () => driven.nonceOf(first),
    (nonce) => nonce === 0,
  );
  await driven.begin(wallet, second);
  await driven.until(second, "broadcast");
  expect(await driven.nonceOf(second)).toBe(1);
  // One that a fee can help is raised meanwhile.
  const stuck = await driven.pay(other, outside, modelCoin, 3n);
  await driven.until(stuck, "broadcast");
  for (let block = 0; block < 20; block++) driven.chain.mine(() => false);
  await eventually(
    () => wantedOf(stuck),
    (wanted) => wanted > 1,
  );
  expect(await wantedOf(second)).toBe(1);
  driven.ports.signer = driven.honest.signer;
  driven.wake();
  await driven.until(first, "broadcast");
  await driven.settle();
  for (const id of [first, second]) await driven.until(id, "completed");
});

async function wantedOf(id: string): Promise<number> {
  const [row] = await driven.database.query<{ wanted: number }>(
    sql`SELECT wanted FROM chain_payments WHERE transaction_id = ${id}`,
  );
  return row?.wanted ?? 0;
}
