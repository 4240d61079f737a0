import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { operatorActorId } from "../../../src/app/events/actor.js";
import { sql } from "../../../src/store/core/sql.js";
import type { ChainWallet } from "../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin, readBytes } from "../../harness/chain/model-chain.js";
import { stoppingOf } from "../../harness/chain/stopping.js";
import { eventually } from "../../harness/eventually.js";

const coins = 1_000_000_000_000n;

describe("a payment that is signed and in no block", () => {
  let driven: DrivenChain;
  let stopping: ReturnType<typeof stoppingOf>;
  beforeAll(async () => {
    driven = await startDrivenChain();
    stopping = stoppingOf(driven);
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
    driven.chain.setBaseFee(100n);
    driven.errors.splice(0);
  });
  afterAll(() => driven.stop());

  const paid = () => balanceOf(driven.chain.head().balances, outside, modelCoin);
  const onChain = ({ address }: ChainWallet) => balanceOf(driven.chain.head().balances, address, modelCoin);
  const signerIsDown = () => {
    driven.ports.signer = { sign: () => Promise.reject(new Error("the signer is down")) };
  };
  /** The purposes of what is sent from now on. */
  function watchSent(): string[] {
    const purposes: string[] = [];
    driven.ports.node = {
      ...driven.honest.node,
      send: async (bytes) => {
        purposes.push(...bytes.map((one) => readBytes(one).purpose));
        return await driven.honest.node.send(bytes);
      },
    };
    return purposes;
  }
  /** As many blocks as a payment that is stuck needs to be replaced, one after the other, as the driver follows them. */
  async function mineWithoutIt(blocks = 8): Promise<void> {
    for (let block = 0; block < blocks; block++) {
      driven.chain.mine(() => false);
      const { number } = driven.chain.final();
      await eventually(
        () => driven.store.readPosition("eip155:31337"),
        (position) => position?.settledNumber === number,
      );
    }
  }
  /** A payment in the pool that no block includes. */
  async function stuck(wallet: ChainWallet, amount = 1000n): Promise<string> {
    const id = await driven.pay(wallet, outside, modelCoin, amount);
    await driven.inPool(1);
    return id;
  }
  const cancelledInPool = () =>
    eventually(
      async () => driven.chain.pool().map(({ intent }) => intent?.purpose),
      ([purpose]) => purpose === "cancellation",
    );

  it("is replaced by an empty transaction when its wallet is frozen, and fails by the client that froze it", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    const sent = watchSent();
    const freezer = await stopping.freeze(wallet);
    await cancelledInPool();
    await mineWithoutIt();
    expect(new Set((await stopping.attempts(id)).slice(1))).toEqual(new Set(["cancellation"]));
    expect(new Set(sent)).toEqual(new Set(["cancellation"]));
    await driven.settle();
    expect(await driven.until(id, "failed")).toMatchObject({
      failure: "WALLET_FROZEN",
      states: ["processing", "broadcast", "failed"],
    });
    expect([paid() - before, await stopping.actorOf(id)]).toEqual([0n, freezer]);
    expect(await stopping.stopsOf(id)).toEqual([
      { actor: "client", clientId: freezer, code: "WALLET_FROZEN" },
    ]);
    expect(await driven.booked(wallet, modelCoin)).toBe(coins - (await stopping.feeOf(id)));
    expect(await driven.booked(wallet, modelCoin)).toBe(onChain(wallet));
    expect(driven.errors).toEqual([]);
  });

  it("is replaced by an empty transaction while its tenant is suspended, and cancelled by the operator", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    const sent = watchSent();
    await stopping.suspend();
    await cancelledInPool();
    await driven.settle();
    await driven.until(id, "cancelled");
    await stopping.resume();
    expect([paid() - before, await stopping.actorOf(id)]).toEqual([0n, operatorActorId]);
    expect(await stopping.stopsOf(id)).toEqual([
      { actor: "operator", clientId: null, code: "TENANT_SUSPENDED" },
    ]);
    expect(new Set(sent)).toEqual(new Set(["cancellation"]));
    expect(driven.errors).toEqual([]);
  });

  it.each([
    ["its wallet is frozen", (_: string, wallet: ChainWallet) => stopping.freeze(wallet)],
    ["its tenant is suspended", () => stopping.suspend()],
    ["its client is disabled", (id: string) => stopping.disable(id)],
  ])(
    "is neither sent again nor replaced with higher fees after %s, also if that was requested before",
    async (_, stop) => {
      const wallet = await driven.createFunded(coins);
      const before = paid();
      const id = await stuck(wallet);
      signerIsDown();
      await driven.database.query(
        sql`UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = ${id}`,
      );
      const sent = watchSent();
      await stop(id, wallet);
      for (const { hash } of driven.chain.pool()) driven.chain.drop(hash);
      await mineWithoutIt();
      driven.ports.signer = driven.honest.signer;
      await mineWithoutIt();
      expect((await stopping.attempts(id)).filter((purpose) => purpose !== "cancellation")).toEqual([
        "payment",
      ]);
      expect(sent.filter((purpose) => purpose !== "cancellation")).toEqual([]);
      await stopping.resume();
      await driven.requestCancel(wallet, id);
      await cancelledInPool();
      await driven.settle();
      expect(["cancelled", "failed"]).toContain((await driven.read(id)).state);
      expect(paid() - before).toBe(0n);
    },
  );

  it.each([
    ["its wallet is frozen", (_: string, wallet: ChainWallet) => stopping.freeze(wallet)],
    ["its tenant is suspended", () => stopping.suspend()],
    ["it is cancelled", (id: string, wallet: ChainWallet) => driven.requestCancel(wallet, id)],
  ])(
    "is replaced by an empty transaction when %s, before the next block, also if it was just sped up",
    async (_, stop) => {
      const wallet = await driven.createFunded(coins);
      const before = paid();
      const id = await stuck(wallet);
      const head = driven.chain.head().number;
      await driven.database.query(
        sql`UPDATE chain_payments SET speed_up_requested = true WHERE transaction_id = ${id}`,
      );
      driven.wake();
      await eventually(
        () => stopping.attempts(id),
        (attempts) => attempts.at(-1) === "replacement",
      );
      await stop(id, wallet);
      await cancelledInPool();
      expect([await stopping.attempts(id), driven.chain.head().number]).toEqual([
        ["payment", "replacement", "cancellation"],
        head,
      ]);
      await driven.settle();
      await eventually(
        async () => (await driven.read(id)).state,
        (state) => state === "cancelled" || state === "failed",
      );
      await stopping.resume();
      expect(paid() - before).toBe(0n);
      expect(driven.errors).toEqual([]);
    },
  );

  it("of a disabled client waits, and is sent and replaced again when the client is enabled", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    await stopping.disable(id);
    await mineWithoutIt();
    expect(await stopping.attempts(id)).toEqual(["payment"]);
    await stopping.enable(id);
    await mineWithoutIt(1);
    await eventually(
      () => stopping.attempts(id),
      (attempts) => attempts.at(-1) === "replacement",
    );
    await driven.settle();
    await driven.until(id, "completed");
    expect(paid() - before).toBe(1000n);
    expect(driven.errors).toEqual([]);
  });

  it("is sped up on request only as the lowest nonce of its wallet, and to at most twice the fees of the market", async () => {
    const wallet = await driven.createFunded(coins);
    const ids = [await stuck(wallet), await driven.pay(wallet, outside, modelCoin, 5n)];
    await driven.inPool(2);
    const feesOf = (nonce: number) =>
      driven.chain.pool().find(({ intent }) => intent?.nonce === nonce)?.intent?.maxFeePerGas ?? 0n;
    const [first, second] = [feesOf(0), feesOf(1)];
    const market = (await driven.node.market()).maxFeePerGas;
    for (let block = 0; block < 12; block++) {
      await driven.database.query(
        sql`UPDATE chain_payments SET speed_up_requested = true, terms_number = ${driven.chain.head().number - 1}
          WHERE transaction_id = ANY (${ids}::uuid[]) AND stage = 'signed'`,
      );
      driven.wake();
      await mineWithoutIt(1);
    }
    expect(feesOf(0)).toBeGreaterThan(first);
    expect(feesOf(0)).toBeLessThanOrEqual(2n * market);
    expect(feesOf(1)).toBe(second);
    await driven.settle();
    for (const id of ids) await driven.until(id, "completed");
    expect(driven.errors).toEqual([]);
  });

  it("is completed if a block includes bytes that a node had before the freeze", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    signerIsDown();
    await stopping.freeze(wallet);
    await driven.settle();
    await driven.until(id, "completed");
    expect(paid() - before).toBe(1000n);
  });

  it("is stopped if a reorganisation takes it out of its block while the wallet is frozen", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    driven.mine(1);
    await driven.until(id, "confirming");
    await stopping.freeze(wallet);
    driven.chain.reorganise(1, () => false);
    driven.mine(2);
    await driven.until(id, "broadcast");
    await cancelledInPool();
    await driven.settle();
    expect(await driven.until(id, "failed")).toMatchObject({ failure: "WALLET_FROZEN" });
    expect(paid() - before).toBe(0n);
    expect(driven.errors).toEqual([]);
  });

  it("is stopped although it pays out all coins of its wallet: the empty transaction is paid out of them", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const probe = await stuck(wallet);
    const [held] = await driven.database.query<{ fee: string }>(
      sql`SELECT fee_held AS fee FROM open_transactions WHERE id = ${probe}`,
    );
    await driven.settle();
    await driven.until(probe, "completed");
    const all = (await driven.booked(wallet, modelCoin)) - BigInt(held?.fee ?? 0);
    const id = await stuck(wallet, all);
    // So high that the empty transaction costs more than was held for the fee of the payment.
    driven.chain.setBaseFee(400n);
    await mineWithoutIt(1);
    await stopping.freeze(wallet);
    await cancelledInPool();
    await driven.settle();
    expect(await driven.until(id, "failed")).toMatchObject({ failure: "WALLET_FROZEN" });
    expect(paid() - before).toBe(1000n);
    expect(await stopping.feeOf(id)).toBeGreaterThan(BigInt(held?.fee ?? 0));
    await driven.settle();
    expect(await driven.booked(wallet, modelCoin)).toBe(onChain(wallet));
    expect(await driven.halts()).toEqual([]);
    expect(driven.errors).toEqual([]);
  });

  it("stays stopped if the wallet is unfrozen after that was decided", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const id = await stuck(wallet);
    signerIsDown();
    await stopping.freeze(wallet);
    await stopping.stopped(id);
    await stopping.unfreeze(wallet);
    driven.ports.signer = driven.honest.signer;
    await cancelledInPool();
    await driven.settle();
    expect(await driven.until(id, "failed")).toMatchObject({ failure: "WALLET_FROZEN" });
    expect(paid() - before).toBe(0n);
  });
});
