import { expect, it } from "vitest";
import type { ChainNode } from "../../../../src/app/chain/chain-node.js";
import type { SigningIntent } from "../../../../src/app/chain/signer.js";
import { type ChainWallet, startChainService } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const wallets = 16;
const payments = 128;

it("payments whose fees the signer refuses cost a step one question about fees, and one about gas", async () => {
  const service = await startChainService({ network: { ...modelChainNetwork, inFlightMax: 16 } });
  try {
    service.startDriver();
    const tenant = await service.createTenant();
    const paying: ChainWallet[] = [];
    for (let made = 0; made < wallets; made++) paying.push(await service.createWallet(tenant));
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    for (const { address } of paying)
      service.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 1_000_000_000_000n }]);
    for (let block = 0; block < 6; block++) service.chain.mine(() => true);
    for (const wallet of paying)
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked > 0n,
      );
    await service.stopDrivers();
    for (let made = 0; made < payments; made++)
      await service.pay(paying[made % wallets] as ChainWallet, outside, modelCoin, 1n);
    let asked = { markets: 0, estimates: 0 };
    const steps: (typeof asked)[] = [];
    const node: ChainNode = {
      ...service.node,
      heads: (...given) => {
        steps.push(asked);
        asked = { markets: 0, estimates: 0 };
        return service.node.heads(...given);
      },
      market: () => {
        asked.markets += 1;
        return service.node.market();
      },
      estimate: (drafts, patience) => {
        if (patience === undefined) asked.estimates += 1;
        return service.node.estimate(drafts);
      },
    };
    const refused = new Set<string>();
    const sign = async (intents: readonly SigningIntent[]) =>
      intents.map(({ transactionId }) => {
        refused.add(transactionId);
        return { refused: "FEE_ABOVE_LIMIT" as const, reason: "The fee is above the limit." };
      });
    service.startDriver({ node, signer: { sign, signedFrom: async (asked) => asked.map(() => []) } });
    await eventually(
      () => refused.size,
      (count) => count === payments,
    );
    const before = steps.length;
    await eventually(
      () => steps.length,
      (count) => count >= before + 6,
    );
    // Payments are assigned, signed, and once more signed in the same step.
    expect(Math.max(...steps.map(({ markets }) => markets))).toBeLessThanOrEqual(3);
    expect(Math.max(...steps.map(({ estimates }) => estimates))).toBeLessThanOrEqual(2);
    expect(steps.some(({ markets }) => markets > 0)).toBe(true);
  } finally {
    await service.stop();
  }
});
