import { afterAll, beforeAll, expect, it } from "vitest";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

const token = "USDC.SIM";

let driven: DrivenChain;
beforeAll(async () => {
  driven = await startDrivenChain();
});
afterAll(() => driven.stop());

it("a wallet that open payments pay is credited with what it has received unseen beyond them", async () => {
  const [payer, paid] = [await driven.createFunded(), await driven.createFunded()];
  const before = await driven.booked(paid, modelCoin);
  driven.ports.signer = {
    sign: async (intents) =>
      intents.map(() => ({ refused: "FEE_ABOVE_LIMIT", reason: "The fee is above the limit." })),
  };
  const id = await driven.pay(payer, paid, modelCoin, 5n);
  await eventually(
    () => driven.nonceOf(id),
    (nonce) => nonce !== null,
  );
  const hidden = [
    { asset: modelCoin, from: outside, to: paid.address, amount: 30n },
    { asset: token, from: outside, to: paid.address, amount: 300n },
  ];
  driven.chain.pay([], hidden);
  driven.mine(30);
  // Nothing says that the 5 of the payment, which is in no block, are not among the 30.
  await eventually(
    async () => [await driven.booked(paid, token), (await driven.booked(paid, modelCoin)) - before],
    ([tokens, coins]) => tokens === 300n && coins === 25n,
  );
  Object.assign(driven.ports, driven.honest);
  await driven.inPool(1);
  driven.mine(30);
  await driven.until(id, "completed");
  const coins = () => driven.booked(paid, modelCoin);
  await eventually(coins, (booked) => booked - before === 35n);
  expect(await coins()).toBe(balanceOf(driven.chain.final().balances, paid.address, modelCoin));
  expect(await driven.halts()).toEqual([]);
});
