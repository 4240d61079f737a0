import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, falseToken, modelCoin } from "../../harness/chain/model-chain.js";
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
