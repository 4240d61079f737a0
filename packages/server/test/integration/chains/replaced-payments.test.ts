import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chainClientOf } from "../../harness/chain/chain-client.js";
import { type ChainService, startChainService } from "../../harness/chain/configured-chain.js";
import { newAddress } from "../../harness/chain/devnet.js";
import { eventually } from "../../harness/eventually.js";

/** Through the API, with a real chain and a real signer. */
describe("a payment that waits for a block", () => {
  let service: ChainService;
  let client: ReturnType<typeof chainClientOf>;
  let walletId: string;
  beforeAll(async () => {
    service = await startChainService();
    client = chainClientOf(service, await service.token(await service.createTenant("100")));
    await client.allowEverything();
    const { id, address } = await client.createActiveWallet();
    walletId = id;
    await service.devnet.control("devnet_fund", { address, amount: String(10n ** 20n), asset: "ETH" });
    await eventually(
      () => client.readWallet(id),
      ({ balances }) => balances.some(({ available }) => available === "100"),
    );
  });
  afterAll(() => service.stop());
  beforeEach(() => service.devnet.control("devnet_setMining", { mode: "manual" }));

  const pool = async () => (await service.devnet.control("devnet_listPool", {})).map(({ hash }) => hash);
  /** Pays, and returns when the chain has it in its pool. */
  async function payAndWait(address: string) {
    const source = { wallet_id: walletId };
    const { body } = await client.create({
      ...{ reference: "wait", asset: "ETH.DEV", amount: "1", source, destination: { address } },
    });
    const [hash = ""] = await eventually(pool, ({ length }) => length === 1);
    await eventually(
      async () => (await client.read(body.id)).body,
      ({ state }) => state === "broadcast",
    );
    return { id: body.id, hash };
  }
  const replaced = async (before: string) => {
    const [hash = ""] = await eventually(pool, (hashes) => hashes.length === 1 && hashes[0] !== before);
    return hash;
  };
  const mine = () => service.devnet.control("devnet_setMining", { mode: "interval", blockTimeMs: 50 });
  const balanceOf = async (address: string) =>
    BigInt(`${await service.devnet.request("eth_getBalance", [address, "latest"])}`);
  const feesOf = async (hash: string) => {
    const found = await service.devnet.request("eth_getTransactionByHash", [hash]);
    const { maxFeePerGas, maxPriorityFeePerGas, nonce } = found as Record<string, string>;
    return { fee: BigInt(maxFeePerGas ?? 0), tip: BigInt(maxPriorityFeePerGas ?? 0), nonce };
  };

  it("is sped up on request: the same nonce with higher fees, paid once", async () => {
    const address = newAddress();
    const { id, hash } = await payAndWait(address);
    const before = await feesOf(hash);
    expect((await client.send("POST", `/v1/transactions/${id}/speed-up`)).status).toBe(202);
    const faster = await replaced(hash);
    const after = await feesOf(faster);
    expect(after.nonce).toBe(before.nonce);
    expect(after.fee * 8n).toBeGreaterThanOrEqual(before.fee * 9n);
    expect(after.tip * 8n).toBeGreaterThanOrEqual(before.tip * 9n);
    await mine();
    expect(await client.settled(id)).toMatchObject({ state: "completed", hash: faster });
    expect(await balanceOf(address)).toBe(10n ** 18n);
    const late = await client.send("POST", `/v1/transactions/${id}/speed-up`);
    expect([late.status, late.body.error?.code]).toEqual([409, "NOT_REPLACEABLE"]);
  });

  it("is cancelled on request: an empty transaction takes its nonce, and only the fee is charged", async () => {
    const address = newAddress();
    const { balances: before } = await client.readWallet(walletId);
    const { id, hash } = await payAndWait(address);
    expect((await client.send("POST", `/v1/transactions/${id}/cancel`)).status).toBe(202);
    const empty = await replaced(hash);
    expect((await client.read(id)).body.state).toBe("broadcast");
    await mine();
    const ended = await client.settled(id);
    expect(ended.state).toBe("cancelled");
    expect(ended.fee?.asset).toBe("ETH.DEV");
    expect(await balanceOf(address)).toBe(0n);
    expect(await service.devnet.request("eth_getTransactionReceipt", [empty])).toMatchObject({
      status: "0x1",
    });
    const { balances: after } = await client.readWallet(walletId);
    const charged = unitsOf(before[0]?.available) - unitsOf(after[0]?.available);
    expect(charged).toBe(unitsOf(ended.fee?.amount));
    expect(charged).toBeLessThan(10n ** 16n);
  });

  it("holds back the seventeenth of a wallet until one of the sixteen before it is in a block", async () => {
    const mined = await client.readWallet(walletId);
    expect(mined.sending).toMatchObject({ in_flight: 0, oldest_at: null });
    const witness = await client.createActiveWallet();
    await service.devnet.control("devnet_fund", {
      ...{ address: witness.address, amount: String(10n ** 18n), asset: "ETH" },
    });
    await service.devnet.control("devnet_mine", { blocks: 5 });
    await eventually(
      () => client.readWallet(witness.id),
      ({ balances }) => balances.some(({ available }) => available === "1"),
    );
    const pay = async (source: string, amount: string) => {
      const { body } = await client.create({
        ...{ reference: "many", asset: "ETH.DEV", amount, source: { wallet_id: source } },
        destination: { address: newAddress() },
      });
      return body;
    };
    const stateOf = async (id: string) => (await client.read(id)).body.state;
    const isSent = (id: string) =>
      eventually(
        () => stateOf(id),
        (state) => state === "broadcast",
      );
    const first = await pay(walletId, "0.01");
    await isSent(first.id);
    const oldest = (await client.readWallet(walletId)).sending?.oldest_at ?? "";
    expect(Date.parse(oldest)).toBeGreaterThanOrEqual(Date.parse(first.created_at));
    const others = await Promise.all(Array.from({ length: 15 }, () => pay(walletId, "0.01")));
    await Promise.all(others.map(({ id }) => isSent(id)));
    const last = await pay(walletId, "0.01");
    await eventually(
      () => stateOf(last.id),
      (state) => state === "processing",
    );
    // It begins later, so the seventeenth has been looked at when it is sent.
    const seen = await pay(witness.id, "0.01");
    await isSent(seen.id);
    expect(await stateOf(last.id)).toBe("processing");
    const { sending } = await client.readWallet(walletId);
    const { next_nonce, final_nonce } = mined.sending ?? { next_nonce: Number.NaN, final_nonce: Number.NaN };
    expect(sending).toMatchObject({
      in_flight: 16,
      oldest_at: oldest,
      next_nonce: next_nonce + 16,
      final_nonce,
    });
    await service.devnet.control("devnet_mine", { blocks: 1 });
    await isSent(last.id);
    // The others are in a block that is not final, so they count still.
    const later = (await client.readWallet(walletId)).sending;
    expect(later).toMatchObject({
      in_flight: 17,
      oldest_at: oldest,
      next_nonce: next_nonce + 17,
      final_nonce,
    });
    await service.devnet.control("devnet_mine", { blocks: 4 });
    const alone = await eventually(
      async () => (await client.readWallet(walletId)).sending,
      (found) => found?.final_nonce === next_nonce + 16,
    );
    expect(alone?.in_flight).toBe(1);
    expect(Date.parse(alone?.oldest_at ?? "")).toBeGreaterThan(Date.parse(oldest));
    await mine();
    expect(await client.settled(last.id)).toMatchObject({ state: "completed" });
    const ended = await eventually(
      () => client.readWallet(walletId),
      ({ sending: now }) => now?.in_flight === 0,
    );
    expect(ended.sending).toMatchObject({ oldest_at: null, final_nonce: next_nonce + 17 });
  });
});

function unitsOf(decimal = "0"): bigint {
  const [whole = "0", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(18, "0"));
}
