import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Signer, SigningIntent } from "../../../src/app/chain/signer.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin, readBytes } from "../../harness/chain/model-chain.js";
import { eventually } from "../../harness/eventually.js";

const usdc = "USDC.SIM";

describe("the fee of a payment on a chain", () => {
  let driven: DrivenChain;
  beforeAll(async () => {
    driven = await startDrivenChain();
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
    driven.chain.setBaseFee(100n);
  });
  afterAll(() => driven.stop());

  /** A signer with a limit of its own. */
  function limitSigner(isAbove: (intent: SigningIntent) => boolean): { refusals: number } {
    const counted = { refusals: 0 };
    const sign: Signer["sign"] = async (intents) =>
      Promise.all(
        intents.map(async (intent) => {
          if (isAbove(intent)) counted.refusals += 1;
          if (isAbove(intent)) return { refused: "FEE_ABOVE_LIMIT", reason: "it is above the limit" };
          const [signed] = await driven.honest.signer.sign([intent]);
          if (signed === undefined) throw new Error("the signer has no answer");
          return signed;
        }),
      );
    driven.ports.signer = { sign };
    return counted;
  }
  const paid = () => balanceOf(driven.chain.head().balances, outside, modelCoin);
  const pay = (from: Parameters<DrivenChain["pay"]>[0], amount: bigint) =>
    driven.pay(from, outside, modelCoin, amount);

  it("above the signer's limit is lowered when fees have fallen, and nothing is halted", async () => {
    const wallet = await driven.createFunded();
    driven.chain.setBaseFee(1000n);
    driven.mine();
    const signer = limitSigner(({ maxFeePerGas }) => maxFeePerGas > 1500n);
    const [before, id] = [paid(), await pay(wallet, 10n)];
    await eventually(
      () => signer.refusals,
      (refusals) => refusals > 1,
    );
    expect([await driven.halts(), await driven.nonceOf(id)]).toEqual([[], 0]);
    driven.chain.setBaseFee(100n);
    driven.mine();
    await driven.inPool(1);
    await driven.settle();
    await driven.until(id, "completed");
    expect(paid() - before).toBe(10n);
    expect(driven.errors).toEqual([]);
  });

  it("that the signer will never sign uses its nonce for an empty transaction, and payments behind it are paid", async () => {
    const wallet = await driven.createFunded();
    const estimate = driven.honest.node.estimate;
    driven.ports.node = {
      ...driven.honest.node,
      estimate: async (drafts) =>
        (await estimate(drafts)).map((one, index) =>
          "gasLimit" in one && drafts[index]?.amount === 11n ? { ...one, gasLimit: 3_000_000n } : one,
        ),
    };
    limitSigner(({ gasLimit }) => gasLimit > 1_000_000n);
    const before = paid();
    const ids = [await pay(wallet, 11n), await pay(wallet, 12n)];
    await driven.inPool(2);
    expect(await Promise.all(ids.map(driven.nonceOf))).toEqual([0, 1]);
    await driven.settle();
    await driven.until(ids[0] ?? "", "cancelled");
    await driven.until(ids[1] ?? "", "completed");
    expect(paid() - before).toBe(12n);
    expect(await driven.halts()).toEqual([]);
    expect(driven.errors).toEqual([]);
  });

  it("above the maximum of the network fails before a nonce is given, and the payments behind it are paid", async () => {
    const wallet = await driven.createFunded(10n ** 15n);
    const estimate = driven.honest.node.estimate;
    driven.ports.node = {
      ...driven.honest.node,
      // As a contract that burns what it is given.
      estimate: async (drafts) =>
        (await estimate(drafts)).map((one, index) =>
          "gasLimit" in one && drafts[index]?.amount === 13n ? { ...one, gasLimit: 10n ** 10n } : one,
        ),
    };
    const before = paid();
    const ids = [await pay(wallet, 13n), await pay(wallet, 14n)];
    expect(await driven.until(ids[0] ?? "", "failed")).toMatchObject({
      failure: "FEE_TOO_HIGH",
      states: ["processing", "failed"],
    });
    await driven.inPool(1);
    expect(await Promise.all(ids.map(driven.nonceOf))).toEqual([null, 0]);
    await driven.settle();
    await driven.until(ids[1] ?? "", "completed");
    expect(paid() - before).toBe(14n);
    expect(driven.errors).toEqual([]);
  });

  it("is raised for what is stuck no further than the maximum", async () => {
    const wallet = await driven.createFunded(10n ** 15n);
    const estimate = driven.honest.node.estimate;
    driven.ports.node = {
      ...driven.honest.node,
      estimate: async (drafts) =>
        (await estimate(drafts)).map((one) => ("gasLimit" in one ? { ...one, gasLimit: 10n ** 9n } : one)),
    };
    const id = await pay(wallet, 15n);
    await driven.inPool(1);
    driven.chain.setBaseFee(50_000n);
    await eventually(
      async () => {
        driven.mine();
        return driven.chain.pool()[0]?.intent?.maxFeePerGas ?? 0n;
      },
      (fee) => fee > 880n,
    );
    driven.mine(20);
    const [waiting] = driven.chain.pool();
    const { gasLimit = 0n, maxFeePerGas = 0n } = waiting?.intent ?? {};
    expect(gasLimit * maxFeePerGas + 500n).toBeLessThanOrEqual(10n ** 12n);
    driven.chain.setBaseFee(100n);
    await driven.settle();
    await driven.until(id, "completed");
    expect(driven.errors).toEqual([]);
  });

  it("that no node can estimate for one destination does not delay the payments to others", async () => {
    const hostile = `0x${"e".repeat(36)}0bad`;
    const [wallet, other] = [await driven.createFunded(), await driven.createFunded()];
    const estimate = driven.honest.node.estimate;
    driven.ports.node = {
      ...driven.honest.node,
      estimate: async (drafts) =>
        drafts.some(({ destination }) => destination === hostile)
          ? drafts.map(() => ({ refused: "UNAVAILABLE" }))
          : await estimate(drafts),
    };
    const before = paid();
    const stuck = await driven.pay(wallet, hostile, modelCoin, 1n);
    const ids = [await pay(wallet, 16n), await pay(other, 17n)];
    for (const id of ids) await driven.until(id, "broadcast");
    await driven.inPool(2);
    expect([(await driven.read(stuck)).state, await driven.nonceOf(stuck)]).toEqual(["processing", null]);
    Object.assign(driven.ports, driven.honest);
    await driven.until(stuck, "broadcast");
    await driven.inPool(3);
    await driven.settle();
    for (const id of [stuck, ...ids]) await driven.until(id, "completed");
    expect(paid() - before).toBe(33n);
    expect(driven.errors).toEqual([]);
  });

  it("covers an empty transaction on a network that pays for data in gas, so that a cancellation is included", async () => {
    const wallet = await driven.createFunded();
    driven.chain.pay([{ asset: usdc, from: outside, to: wallet.address, amount: 1000n }]);
    await driven.settle();
    const { send } = driven.honest.node;
    driven.ports.node = {
      ...driven.honest.node,
      send: async (bytes) =>
        Promise.all(
          bytes.map(async (one) => {
            if (readBytes(one).gasLimit < 50_000n) return "refused";
            return (await send([one]))[0] ?? "unknown";
          }),
        ),
    };
    const id = await driven.pay(wallet, outside, usdc, 500n);
    await driven.inPool(1);
    await driven.requestCancel(wallet, id);
    await eventually(
      async () => driven.chain.pool(),
      ([one]) => one?.intent?.purpose === "cancellation",
    );
    await driven.settle();
    await driven.until(id, "cancelled");
    expect(driven.errors).toEqual([]);
  });
});
