import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { operatorActorId } from "../../../src/app/events/actor.js";
import type { ChainWallet } from "../../harness/chain/chain-service.js";
import { type DrivenChain, outside, startDrivenChain } from "../../harness/chain/driven-chain.js";
import { balanceOf, modelCoin } from "../../harness/chain/model-chain.js";
import { stoppingOf } from "../../harness/chain/stopping.js";
import { eventually } from "../../harness/eventually.js";

const coins = 1_000_000_000_000n;

describe("a payment that has a nonce and no signature", () => {
  let driven: DrivenChain;
  let stopping: ReturnType<typeof stoppingOf>;
  beforeAll(async () => {
    driven = await startDrivenChain();
    stopping = stoppingOf(driven);
  });
  afterEach(() => {
    Object.assign(driven.ports, driven.honest);
    driven.errors.splice(0);
  });
  afterAll(() => driven.stop());

  const paid = () => balanceOf(driven.chain.head().balances, outside, modelCoin);
  const onChain = ({ address }: ChainWallet) => balanceOf(driven.chain.head().balances, address, modelCoin);

  /** A signer that does not answer. Returns what lets it answer. */
  function holdSigner(signsBefore: boolean): () => void {
    let answer: () => void = () => undefined;
    const isBack = new Promise<void>((resolve) => {
      answer = resolve;
    });
    driven.ports.signer = {
      sign: async (intents) => {
        const early = signsBefore ? await driven.honest.signer.sign(intents) : undefined;
        await isBack;
        return early ?? (await driven.honest.signer.sign(intents));
      },
    };
    return answer;
  }

  type Stop = (id: string, wallet: ChainWallet) => Promise<unknown>;
  interface Case {
    what: string;
    stop: Stop;
    state: string;
    failure: string | null;
    code: string | null;
    /** What ends the stop, so that the wallet can be used again. */
    lift?: (wallet: ChainWallet) => Promise<unknown>;
    actor: (given: unknown) => unknown;
  }
  const cases: Case[] = [
    {
      what: "is cancelled",
      stop: (id, wallet) => driven.requestCancel(wallet, id),
      ...{ state: "cancelled", failure: null, code: null },
      actor: () => driven.tenantId,
    },
    {
      what: "expires",
      stop: (id) => stopping.expire(id),
      ...{ state: "failed", failure: "EXPIRED", code: "EXPIRED" },
      actor: () => null,
    },
    {
      what: "is from a wallet that is frozen",
      stop: (_, wallet) => stopping.freeze(wallet),
      ...{ state: "failed", failure: "WALLET_FROZEN", code: "WALLET_FROZEN" },
      lift: (wallet) => stopping.unfreeze(wallet),
      actor: (freezer) => freezer,
    },
    {
      what: "is of a tenant that is suspended",
      stop: () => stopping.suspend(),
      ...{ state: "cancelled", failure: null, code: "TENANT_SUSPENDED" },
      lift: () => stopping.resume(),
      actor: () => operatorActorId,
    },
    {
      what: "is of a client that is disabled",
      stop: (id) => stopping.disable(id),
      ...{ state: "cancelled", failure: null, code: "CLIENT_DISABLED" },
      actor: () => operatorActorId,
    },
    {
      what: "is to an address that leaves the allow-list",
      stop: async () => {
        await stopping.list();
        await stopping.delist();
      },
      ...{ state: "failed", failure: "ADDRESS_NOT_LISTED", code: "ADDRESS_NOT_LISTED" },
      actor: () => null,
    },
  ];

  describe.each([
    ["the signer is down", false, cases],
    ["the signer has signed it and its answer is late", true, cases.slice(0, 3)],
  ])("while %s", (_, signsBefore, given) => {
    it.each(given)("and $what, is never paid: an empty transaction uses its nonce", async (one) => {
      const wallet = await driven.createFunded(coins);
      const before = paid();
      const answer = holdSigner(signsBefore);
      const id = await driven.pay(wallet, outside, modelCoin, 1000n);
      await stopping.assigned(id);
      const by = await one.stop(id, wallet);
      answer();
      await driven.inPool(1);
      expect(await stopping.attempts(id)).toEqual(["cancellation"]);
      // Until that is final, what the payment holds stays held.
      driven.mine(1);
      await eventually(
        () => stopping.feeOf(id),
        (fee) => fee > 0n,
      );
      expect((await driven.read(id)).state).toBe("processing");
      expect(await driven.booked(wallet, modelCoin)).toBe(coins);
      await driven.settle();
      const end = await driven.until(id, one.state);
      expect(end).toMatchObject({ failure: one.failure, states: ["processing", one.state] });
      expect([paid() - before, await stopping.actorOf(id)]).toEqual([0n, one.actor(by)]);
      expect((await stopping.stopsOf(id)).map(({ code }) => code)).toEqual(
        one.code === null ? [] : [one.code],
      );
      // The fee of the empty transaction is charged, and nothing else.
      expect(await driven.booked(wallet, modelCoin)).toBe(coins - (await stopping.feeOf(id)));
      expect(await driven.booked(wallet, modelCoin)).toBe(onChain(wallet));
      expect(await driven.halts()).toEqual([]);

      await one.lift?.(wallet);
      const next = await driven.pay(wallet, outside, modelCoin, 7n);
      await driven.inPool(1);
      await driven.settle();
      await driven.until(next, "completed");
      expect([paid() - before, await driven.nonceOf(next)]).toEqual([7n, 1]);
      expect(driven.errors).toEqual([]);
    });
  });

  it("does not hold up the payments of other clients when its own is disabled", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    const answer = holdSigner(false);
    const stolen = await driven.pay(wallet, outside, modelCoin, 1000n);
    const other = await driven.pay(wallet, outside, modelCoin, 5n);
    await stopping.assigned(stolen);
    await stopping.disable(stolen);
    answer();
    await driven.inPool(2);
    await driven.settle();
    await driven.until(stolen, "cancelled");
    await driven.until(other, "completed");
    expect(paid() - before).toBe(5n);
  });

  it("stays stopped if the wallet is unfrozen before the empty transaction is signed", async () => {
    const wallet = await driven.createFunded(coins);
    const before = paid();
    driven.ports.signer = { sign: () => Promise.reject(new Error("the signer is down")) };
    const id = await driven.pay(wallet, outside, modelCoin, 1000n);
    await stopping.assigned(id);
    await stopping.freeze(wallet);
    await stopping.stopped(id);
    await stopping.unfreeze(wallet);
    driven.ports.signer = driven.honest.signer;
    await driven.inPool(1);
    await driven.settle();
    expect(await driven.until(id, "failed")).toMatchObject({ failure: "WALLET_FROZEN" });
    expect(paid() - before).toBe(0n);
  });
});
