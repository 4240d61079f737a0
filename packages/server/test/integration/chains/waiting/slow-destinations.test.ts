import { expect, it } from "vitest";
import type { ChainNode } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import { type ChainWallet, startChainService } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const slow = `0x${"d".repeat(40)}`;
const wallets = 15;

it("a payment does not wait until nodes have executed what another tenant pays to", async () => {
  const service = await startChainService({ network: { ...modelChainNetwork, inFlightMax: 16 } });
  try {
    let groups = 0;
    const estimate: ChainNode["estimate"] = async (drafts, patience) => {
      if (!drafts.some(({ destination }) => destination === slow))
        return await service.node.estimate(drafts, patience);
      groups += 1;
      // A third of what nodes have, so that the test does not take longer.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return drafts.map(() => ({ refused: "UNAVAILABLE" as const }));
    };
    const node = { ...service.node, estimate };
    service.startDriver({ node });
    const other = await service.createTenant();
    const paying: ChainWallet[] = [];
    for (let made = 0; made < wallets; made++) paying.push(await service.createWallet(other));
    const waiting = await service.createWallet(await service.createTenant());
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    for (const { address } of [...paying, waiting])
      service.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1_000_000_000_000n }]);
    for (let block = 0; block < 6; block++) service.chain.mine(() => true);
    for (const wallet of [...paying, waiting])
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked > 0n,
      );
    await service.stopDrivers();
    for (let made = 0; made < wallets * 16; made++)
      await service.pay(paying[made % wallets] as ChainWallet, slow, modelCoin, 1n);
    const id = await service.pay(waiting, outside, modelCoin, 1n);
    service.startDriver({ node });
    await eventually(
      async () => {
        const [row] = await service.database.query<{ nonce: string | null }>(
          sql`SELECT nonce FROM chain_payments WHERE transaction_id = ${id}`,
        );
        return row?.nonce ?? null;
      },
      (nonce) => nonce !== null,
    );
    // Those of one step: it begins no group after its time, and what fails is not tried alone before it.
    expect(groups).toBeLessThan(16);
  } finally {
    await service.stop();
  }
});
