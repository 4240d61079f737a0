import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { type ChainService, type ChainWallet, startChainService } from "../../harness/chain/chain-service.js";
import { balanceOf, falseToken, modelCoin } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

const outside = `0x${"e".repeat(40)}`;
const usdc = "USDC.SIM";

describe("the driver of an EVM network", () => {
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

  it("pays an address, and completes it when its block is final and not before", async () => {
    await fund();
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    expect((await service.read(id)).states).toEqual(["processing", "broadcast"]);
    mine(1);
    await until(id, "confirming");
    mine(3);
    await eventually(
      () => service.store.readPosition("eip155:31337"),
      (p) => p?.tail.at(-1)?.number === 9,
    );
    expect((await service.read(id)).state).toBe("confirming");
    mine(1);
    await until(id, "completed");
    await expectBooksEqualChain([wallet]);
  });

  it("sends the same bytes again when the pool has dropped them, and pays once", async () => {
    await fund();
    const ids = [];
    for (let count = 0; count < 3; count++) ids.push(await service.pay(wallet, outside, modelCoin, 10n));
    for (const id of ids) await until(id, "broadcast");
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 3,
    );
    for (const { hash } of service.chain.pool()) service.chain.drop(hash);
    mine(2);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 3,
    );
    mine(5);
    for (const id of ids) await until(id, "completed");
    expect(balanceOf(service.chain.head().balances, outside, modelCoin)).toBe(30n);
    await expectBooksEqualChain([wallet]);
  });

  it("sends them again after a time if there are no blocks, because some chains have them only on demand", async () => {
    await fund();
    await service.stopDrivers();
    let aheadMs = 0;
    service.startDriver({ monotonicMs: () => performance.now() + aheadMs });
    const id = await service.pay(wallet, outside, modelCoin, 10n);
    const hashOf = async () => service.chain.pool()[0]?.hash;
    const hash = await eventually(hashOf, (found) => found !== undefined);
    service.chain.drop(`${hash}`);
    aheadMs = 31_000;
    await eventually(hashOf, (found) => found === hash);
    mine(5);
    await until(id, "completed");
    await expectBooksEqualChain([wallet]);
  });

  it("goes back to broadcast when its block leaves the chain, and completes in another", async () => {
    await fund();
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    mine(2);
    await until(id, "confirming");
    service.chain.reorganise(2, () => false);
    service.chain.mine(() => false);
    await until(id, "broadcast");
    await eventually(
      async () => {
        service.chain.mine(() => true);
        return service.read(id);
      },
      ({ state }) => state === "completed",
    );
    expect((await service.read(id)).states).toEqual([
      "processing",
      "broadcast",
      "confirming",
      "broadcast",
      "confirming",
      "completed",
    ]);
    await expectBooksEqualChain([wallet]);
  });

  it("fails what the network reverts, charges its fee, and completes nothing that a token did not log", async () => {
    await fund();
    service.chain.credit(wallet.address, falseToken, 500n);
    mine(25);
    await eventually(
      () => service.booked(wallet, falseToken),
      (booked) => booked === 500n,
    );
    const reverted = await service.pay(wallet, outside, modelCoin, 1000n);
    service.chain.revert(reverted);
    const lied = await service.pay(wallet, outside, falseToken, 500n);
    const refused = await service.pay(wallet, `0x${"e".repeat(36)}dead`, modelCoin, 1000n);
    await until(refused, "failed");
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 2,
    );
    mine(5);
    expect(await until(reverted, "failed")).toMatchObject({ failure: "EXECUTION_REVERTED" });
    expect(await until(lied, "failed")).toMatchObject({ failure: "EXECUTION_REVERTED" });
    expect(await service.read(refused)).toMatchObject({ failure: "WOULD_REVERT" });
    await expectBooksEqualChain([wallet]);
  });

  it("fails a payment without coins for its fee, and uses no nonce for it", async () => {
    await fund(wallet, 1_000_000n, usdc);
    const id = await service.pay(wallet, outside, usdc, 1000n);
    expect(await until(id, "failed")).toMatchObject({ failure: "INSUFFICIENT_FEE_FUNDS" });
    expect(service.chain.pool()).toEqual([]);
    await expectBooksEqualChain([wallet]);
  });

  it("raises the fees of what is stuck, and takes any attempt that the chain has", async () => {
    await fund();
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    const first = service.chain.pool()[0];
    service.chain.setBaseFee(2000n);
    await eventually(
      async () => {
        mine(1);
        return service.chain.pool()[0];
      },
      (replacement) => replacement?.hash !== first?.hash,
    );
    service.chain.setBaseFee(100n);
    service.chain.mine((transaction) => transaction.hash === first?.hash);
    mine(5);
    await until(id, "completed");
    expect(balanceOf(service.chain.head().balances, outside, modelCoin)).toBe(1000n);
    await expectBooksEqualChain([wallet]);
  });

  it("cancels by an empty transaction, holds the funds until that is final, and charges its fee", async () => {
    await fund();
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    await service.requestCancel(wallet, id);
    await eventually(
      async () => service.chain.pool(),
      ([one]) => one?.intent?.purpose === "cancellation",
    );
    mine(1);
    await eventually(
      () => service.store.readPosition("eip155:31337"),
      (p) => p?.tail.at(-1)?.number === 6,
    );
    expect((await service.read(id)).state).toBe("broadcast");
    mine(4);
    await until(id, "cancelled");
    expect(balanceOf(service.chain.head().balances, outside, modelCoin)).toBe(0n);
    await expectBooksEqualChain([wallet]);
  });

  it("completes a payment whose cancellation came too late", async () => {
    await fund();
    const id = await service.pay(wallet, outside, modelCoin, 1000n);
    await eventually(
      async () => service.chain.pool(),
      (pool) => pool.length === 1,
    );
    const first = service.chain.pool()[0];
    await service.requestCancel(wallet, id);
    await eventually(
      async () => service.chain.pool(),
      ([one]) => one?.intent?.purpose === "cancellation",
    );
    service.chain.mine((transaction) => transaction.hash === first?.hash);
    mine(5);
    await until(id, "completed");
    await expectBooksEqualChain([wallet]);
  });

  it("halts a wallet whose nonce somebody else has used, and pays from it no more", async () => {
    await fund();
    service.chain.useNonce(wallet.address);
    mine(5);
    const paid = await service.pay(wallet, outside, modelCoin, 10n);
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 5n }]);
    mine(5);
    const [row] = await eventually(
      () => service.halts(),
      (halts) => halts.length === 1,
    );
    expect(row).toMatchObject({ action: "wallet.halt", code: "NONCE_USED_ELSEWHERE" });
    const later = await service.pay(wallet, outside, modelCoin, 10n);
    mine(5);
    await settled();
    expect((await service.read(later)).state).toBe("processing");
    expect(["processing", "broadcast"]).toContain((await service.read(paid)).state);
  });
});
