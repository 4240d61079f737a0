import { expect, it } from "vitest";
import { listAwaiting } from "../../../../src/store/chain/accept-chain.js";
import { startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";

it("what an own wallet is paid is awaited until the block that it is in is settled: a node can show it in a later one", async () => {
  const driven = await startDrivenChain();
  try {
    const [wallet, own] = [await driven.createFunded(), await driven.createFunded(100n)];
    const { tenantId, walletId } = own;
    const awaited = async (settledNumber: number) => {
      const surplus = [{ tenantId, walletId, asset: modelCoin, amount: 10n }];
      const listed = await driven.database.session((session) =>
        listAwaiting(session, modelNetwork, surplus, settledNumber),
      );
      return listed.map(({ amount }) => amount);
    };
    const paid = await driven.pay(wallet, own, modelCoin, 7n);
    await driven.inPool(1);
    const before = driven.chain.head().number;
    expect(await awaited(before)).toEqual([7n]);
    driven.mine(1);
    await driven.until(paid, "confirming");
    expect(await awaited(before)).toEqual([7n]);
    expect(await awaited(before + 1)).toEqual([]);
    await driven.settle();
    await driven.until(paid, "completed");
    expect(await awaited(before)).toEqual([]);
  } finally {
    await driven.stop();
  }
});
