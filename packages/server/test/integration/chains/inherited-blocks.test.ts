import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChainBlock, ChainNode } from "../../../src/app/chain/chain-node.js";
import { sql } from "../../../src/store/core/sql.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { outside } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

const network = "eip155:31337";

describe("blocks that were read before a restart", () => {
  let service: ChainService;
  let wallet: ChainWallet;
  beforeEach(async () => {
    service = await startChainService();
    wallet = await service.createWallet(await service.createTenant());
  });
  afterEach(() => service.stop());

  const mine = (blocks: number) => {
    for (let block = 0; block < blocks; block++) service.chain.mine(() => true);
  };
  const fund = (amount: bigint) =>
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount }]);
  const followed = () =>
    eventually(
      () => service.store.readPosition(network),
      (position) => position?.tail.at(-1)?.hash === service.chain.head().hash,
    );
  const settled = async () => {
    mine(5);
    await eventually(
      () => service.store.readPosition(network),
      (position) => position?.settledNumber === service.chain.final().number,
    );
  };
  async function startWith(node: ChainNode): Promise<void> {
    service.startDriver({ node });
    await followed();
    fund(1_000_000_000n);
    await settled();
  }
  /** It has the right hashes, and changes what is in the blocks that are not final. */
  const lying = (lie: (block: ChainBlock) => ChainBlock): ChainNode => ({
    ...service.node,
    block: async (hash, watch) => {
      const block = await service.node.block(hash, watch);
      return block === undefined ? undefined : lie(block);
    },
  });

  it("are read again when they are final: what one node has made up is neither credited nor completed", async () => {
    await startWith(
      lying((block) => ({
        ...block,
        transfers: block.transfers.map((one) => ({ ...one, amount: one.amount * 10n })),
        outcomes: block.outcomes.map((one) => ({ ...one, success: true })),
      })),
    );
    const before = await service.booked(wallet, modelCoin);
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    service.chain.revert(id);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    fund(150n);
    mine(1);
    await followed();
    expect((await service.read(id)).state).toBe("confirming");
    await service.stopDrivers();
    service.startDriver();
    await settled();
    await settled();
    expect(await service.read(id)).toMatchObject({ state: "failed", failure: "EXECUTION_REVERTED" });
    const onChain = balanceOf(service.chain.final().balances, wallet.address, modelCoin);
    expect(await service.booked(wallet, modelCoin)).toBe(onChain);
    expect(onChain).toBeLessThan(before + 150n);
    expect(service.errors.map(String)).toEqual([
      expect.stringContaining("has something else than was read from it before"),
    ]);
    expect(await service.halts()).toEqual([]);
  });

  it("are read again when they are final: a deposit that one node has left out is credited", async () => {
    await startWith(lying((block) => ({ ...block, transfers: [] })));
    const before = await service.booked(wallet, modelCoin);
    const hash = fund(150n);
    mine(1);
    await followed();
    await service.stopDrivers();
    service.startDriver();
    await settled();
    await eventually(
      () => service.deposits(wallet),
      (list) => list.length === 2 && list.every(({ state }) => state === "completed"),
    );
    // With its hash; otherwise it would be coins that no block shows.
    const references = await service.database.query<{ reference: string }>(
      sql`SELECT reference FROM transactions WHERE kind = 'deposit' ORDER BY id`,
    );
    expect(references.at(-1)).toEqual({ reference: hash });
    expect(await service.booked(wallet, modelCoin)).toBe(before + 150n);
  });

  it("are settled as they were read if nothing differs, without another event", async () => {
    await startWith(service.node);
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    fund(150n);
    mine(1);
    await followed();
    await service.stopDrivers();
    service.startDriver();
    await settled();
    expect((await service.read(id)).states).toEqual(["processing", "broadcast", "confirming", "completed"]);
    expect((await service.deposits(wallet)).at(-1)?.states).toEqual(["confirming", "completed"]);
    expect(service.errors).toEqual([]);
  });

  it.each([
    [
      "an asset that is not on the network",
      (id: string) => sql`UPDATE transactions SET asset = 'GONE' WHERE id = ${id}`,
    ],
    [
      "no row of the wallet that it pays",
      (id: string) => sql`
        DELETE FROM chain_wallets w USING transactions t WHERE t.id = ${id} AND w.wallet_id = t.destination_account_id`,
    ],
  ])("are settled without a payment that has %s", async (_, spoil) => {
    await startWith(service.node);
    const tenantId = await service.createTenant();
    const [faulty, paid] = [await service.createWallet(tenantId), await service.createWallet(tenantId)];
    service.chain.pay([{ asset: modelCoin, from: outside, to: faulty.address, amount: 1_000_000_000n }]);
    await settled();
    const bad = await service.pay(faulty, paid, modelCoin, 1n);
    const good = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 2,
    );
    await service.database.query(spoil(bad));
    mine(1);
    await followed();
    await eventually(
      () => service.halts(),
      ({ length }) => length === 1,
    );
    expect(await service.halts()).toMatchObject([{ code: "PAYMENT_AT_FAULT" }]);
    await service.stopDrivers();
    service.startDriver();
    await settled();
    expect((await service.read(good)).state).toBe("completed");
    expect((await service.read(bad)).state).toBe("broadcast");
    expect(service.errors).toEqual([]);
  });
});
