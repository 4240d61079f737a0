import { expect, it } from "vitest";
import { type ChainNode, NodesDisagreeError } from "../../../../src/app/chain/chain-node.js";
import { sql } from "../../../../src/store/core/sql.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

/** More than a step looks at. */
const inFlight = 505;

it("cancels a payment behind a full page of others while two nodes disagree about the final block, so that each step fails", async () => {
  const service = await startChainService({ network: { ...modelChainNetwork, inFlightMax: inFlight } });
  try {
    let isDisputed = false;
    let failures = 0;
    const finalHeaders: ChainNode["finalHeaders"] = async (numbers) => {
      if (!isDisputed) return await service.node.finalHeaders(numbers);
      failures += 1;
      throw new NodesDisagreeError("Node 1 and Node 2 disagree about a block, which is final.");
    };
    service.startDriver({ node: { ...service.node, finalHeaders } });
    const tenant = await service.createTenant();
    const wallets = [await service.createWallet(tenant), await service.createWallet(tenant)];
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (position) => position !== undefined,
    );
    // They are looked at in the order of their wallets' ids.
    const [first, last] = wallets.toSorted((one, other) => (one.walletId < other.walletId ? -1 : 1));
    if (first === undefined || last === undefined) throw new Error("two wallets were created");
    for (const { address } of wallets)
      service.chain.pay([{ asset: modelCoin, from: outside, to: address, amount: 10n ** 15n }]);
    for (let block = 0; block < 6; block++) service.chain.mine(() => true);
    for (const wallet of wallets)
      await eventually(
        () => service.booked(wallet, modelCoin),
        (booked) => booked > 0n,
      );
    for (let made = 0; made < inFlight; made++) await service.pay(first, outside, modelCoin, 1n);
    const id = await service.pay(last, outside, modelCoin, 1n);
    await eventually(
      async () => service.chain.pool().length,
      (length) => length === inFlight + 1,
    );

    isDisputed = true;
    for (let block = 0; block < 3; block++) service.chain.mine(() => false);
    await eventually(
      async () => failures,
      (count) => count > 0,
    );
    await service.requestCancel(last, id);
    await eventually(
      async () => {
        service.chain.mine(() => false);
        const [row] = await service.database.query<{ purpose: string }>(
          sql`SELECT purpose FROM chain_payments WHERE transaction_id = ${id}`,
        );
        return row?.purpose;
      },
      (purpose) => purpose === "cancellation",
    );
    expect(service.chain.pool().length).toBeGreaterThan(inFlight);
  } finally {
    await service.stop();
  }
});
