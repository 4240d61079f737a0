import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, falseToken, type ModelBlock, modelCoin } from "../../harness/chain/model-chain.js";
import { createModelNode } from "../../harness/chain/model-node.js";
import { eventually } from "../../harness/eventually.js";

const outside = `0x${"e".repeat(40)}`;
const usdc = "USDC.SIM";

describe("deposits on an EVM network", () => {
  let service: ChainService;
  let tenantId: string;
  let wallet: ChainWallet;
  beforeEach(async () => {
    service = await startChainService();
    tenantId = await service.createTenant();
    wallet = await service.createWallet(tenantId);
    service.startDriver();
    await eventually(
      () => service.store.readPosition("eip155:31337"),
      (position) => position !== undefined,
    );
  });
  afterEach(() => service.stop());

  const mine = (blocks = 1) => {
    for (let block = 0; block < blocks; block++) service.chain.mine((_, isReplaced) => !isReplaced);
  };
  const until = (id: string, state: string) =>
    eventually(
      () => service.read(id),
      (one) => one.state === state,
    );
  const settled = async (number = service.chain.final().number) =>
    eventually(
      () => service.store.readPosition("eip155:31337"),
      (position) => (position?.settledNumber ?? 0) >= number,
    );
  async function fund(to = wallet, amount = 1_000_000_000n, asset = modelCoin): Promise<void> {
    service.chain.pay([{ asset, from: outside, to: to.address, amount }]);
    mine(5);
    await eventually(
      () => service.booked(to, asset),
      (booked) => booked >= amount,
    );
  }
  async function expectBooksEqualChain(wallets: readonly ChainWallet[]): Promise<void> {
    await settled();
    for (const one of wallets)
      for (const asset of [modelCoin, usdc, falseToken])
        expect([asset, await service.booked(one, asset)]).toEqual([
          asset,
          balanceOf(service.chain.final().balances, one.address, asset),
        ]);
    for (const { what, violations } of await auditLedger(service.database))
      expect([what, violations]).toEqual([what, []]);
    expect(service.errors).toEqual([]);
  }

  it("credits deposits at finality, gathers small ones, and counts what no block shows", async () => {
    service.chain.pay(
      [
        { asset: usdc, from: outside, to: wallet.address, amount: 150n },
        { asset: usdc, from: outside, to: wallet.address, amount: 40n },
      ],
      [{ asset: modelCoin, from: outside, to: wallet.address, amount: 777n }],
    );
    mine(1);
    const [deposit] = await eventually(
      () => service.deposits(wallet),
      (list) => list.length === 1,
    );
    expect(deposit?.states).toEqual(["confirming"]);
    mine(4);
    await eventually(
      () => service.deposits(wallet),
      (list) => list.filter(({ state }) => state === "completed").length === 2,
    );
    service.chain.pay([{ asset: usdc, from: outside, to: wallet.address, amount: 70n }]);
    mine(5);
    await eventually(
      () => service.deposits(wallet),
      (list) => list.filter(({ state }) => state === "completed").length === 3,
    );
    await expectBooksEqualChain([wallet]);
  });

  it("fails a deposit that a reorganisation has removed for good", async () => {
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 150n }]);
    mine(1);
    await eventually(
      () => service.deposits(wallet),
      (list) => list.length === 1,
    );
    service.chain.reorganise(1, () => false);
    mine(30);
    const [deposit] = await eventually(
      () => service.deposits(wallet),
      ([one]) => one?.state === "failed",
    );
    expect(deposit).toMatchObject({
      failure: "DEPOSIT_REORGANISED",
      states: ["confirming", "broadcast", "failed"],
    });
    await expectBooksEqualChain([wallet]);
  });

  it("gathers a transfer that came back below the minimum, although it was a deposit of its own before", async () => {
    const transfer = { asset: usdc, from: outside, to: wallet.address };
    const hash = service.chain.pay([{ ...transfer, amount: 150n }]);
    mine(1);
    await eventually(
      () => service.deposits(wallet),
      (list) => list.length === 1,
    );
    service.chain.reorganise(1, () => false);
    // A contract can pay another amount in another block, with the same hash. The last small transfer names what is gathered.
    service.chain.pay([{ ...transfer, amount: 60n }]);
    service.chain.mine(() => true);
    const transactions = service.chain.head().transactions as object[];
    transactions.push({ ...transactions[0], hash, transfers: [{ ...transfer, amount: 60n }] });
    service.chain.credit(wallet.address, usdc, 60n);
    mine(5);
    const deposits = await eventually(
      () => service.deposits(wallet),
      (list) => list.some(({ state }) => state === "completed"),
    );
    expect(deposits.map(({ state }) => state)).toEqual(["failed", "completed"]);
    await expectBooksEqualChain([wallet]);
  });

  it("follows a chain that changes between two branches, with another amount in each", async () => {
    await fund();
    await service.stopDrivers();
    const [forkAt, transfer] = [service.chain.head().number, { asset: usdc, from: outside }];
    const branches: ModelBlock[][] = [];
    for (const amount of [150n, 250n]) {
      service.chain.reorganise(service.chain.head().number - forkAt, () => false);
      service.chain.pay([{ ...transfer, to: wallet.address, amount }]);
      mine(1);
      const blocks = [...service.chain.blocks()];
      const last = blocks.at(-1) as ModelBlock;
      // The hash of a transaction is the same in both branches.
      const transactions = last.transactions.map((one) => ({ ...one, hash: "0xsame" }));
      branches.push([...blocks.slice(0, -1), { ...last, transactions }]);
    }
    let blocks = branches[0] as ModelBlock[];
    const chain = { ...service.chain, blocks: () => blocks, head: () => blocks.at(-1) as ModelBlock };
    const options = { reach: async () => undefined, isAnswerLost: () => false, lag: () => 0 };
    const node = createModelNode({ chain, ...options, wouldRevert: () => false });
    service.startDriver({ node });
    for (const branch of [0, 1, 0, 1]) {
      blocks = branches[branch] as ModelBlock[];
      await eventually(
        () => service.store.readPosition("eip155:31337"),
        (position) => position?.tail.at(-1)?.hash === blocks.at(-1)?.hash,
      );
    }
    expect((await service.deposits(wallet)).map(({ state }) => state)).toEqual([
      "completed",
      "failed",
      "failed",
      "failed",
      "confirming",
    ]);
    expect(service.errors).toEqual([]);
  });

  it("bounds what an outsider's flood of small deposits costs, and credits all of it and what others receive", async () => {
    const other = await service.createWallet(await service.createTenant());
    const flood = Array.from({ length: 3000 }, (_, index) => ({
      ...{ asset: usdc, from: outside, to: wallet.address, amount: index % 2 === 0 ? 1n : 100n },
    }));
    service.chain.pay([...flood, { asset: usdc, from: outside, to: wallet.address, amount: 5000n }]);
    service.chain.pay([{ asset: usdc, from: outside, to: other.address, amount: 700n }]);
    mine(1);
    expect(
      await eventually(
        () => service.deposits(other),
        ({ length }) => length === 1,
      ),
    ).toMatchObject([{ state: "confirming" }]);
    const [row] = await service.database.query<{ rows: number }>(
      sql`SELECT count(*)::integer AS rows FROM chain_deposits WHERE wallet_id = ${wallet.walletId}`,
    );
    expect(row?.rows).toBe(101);
    // The process ends, and the next one confirms what was written.
    await service.stopDrivers();
    service.startDriver();
    mine(4);
    await expectBooksEqualChain([wallet, other]);
    // 100 of their own, and one sum.
    expect(await service.deposits(wallet)).toHaveLength(101);
  });

  it("knows its own transfers, and credits another tenant's wallet", async () => {
    const own = await service.createWallet(tenantId);
    const other = await service.createWallet(await service.createTenant());
    await fund();
    const inside = await service.pay(wallet, own, modelCoin, 1000n);
    const across = await service.pay(wallet, other.address, modelCoin, 2000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 2,
    );
    mine(5);
    await until(inside, "completed");
    await until(across, "completed");
    await eventually(
      () => service.booked(other, modelCoin),
      (booked) => booked === 2000n,
    );
    expect(await service.deposits(own)).toEqual([]);
    expect(await service.deposits(other)).toHaveLength(1);
    await expectBooksEqualChain([wallet, own, other]);
  });
});
