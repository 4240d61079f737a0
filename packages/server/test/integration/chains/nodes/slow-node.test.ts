import { expect, it } from "vitest";
import type { ChainNode } from "../../../../src/app/chain/chain-node.js";
import type { ChainStore } from "../../../../src/app/chain/chain-store.js";
import { sql } from "../../../../src/store/core/sql.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const leaseMs = 2000;

it("a step that waits for a node longer than a lease lasts keeps its lease", async () => {
  const service = await startChainService();
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  try {
    let isAsked = false;
    const market = async () => {
      isAsked = true;
      await answered;
      return await service.node.market();
    };
    service.startDriver({ node: { ...service.node, market }, leaseMs });
    const wallet = await service.createWallet(await service.createTenant());
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1_000_000_000_000n }]);
    for (let block = 0; block < 5; block++) service.chain.mine(() => true);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked > 0n,
    );
    const id = await service.pay(wallet, outside, modelCoin, 1n);
    await eventually(
      () => isAsked,
      (asked) => asked,
    );
    const read = async () => {
      const [row] = await service.database.query<{
        fence: string;
        expires: number;
        nonce: string | null;
      }>(sql`
        SELECT n.fence, extract(epoch FROM n.expires_at)::float8 * 1000 AS expires, p.nonce
        FROM chain_payments p JOIN networks n USING (network) WHERE p.transaction_id = ${id}`);
      return row ?? { fence: "", expires: 0, nonce: null };
    };
    const before = await read();
    // Another process tries to take over all the time.
    service.startDriver({ leaseMs });
    const during = await eventually(read, ({ fence, expires }) => {
      return fence !== before.fence || expires > before.expires + leaseMs;
    });
    expect(during).toMatchObject({ fence: before.fence, nonce: null });
    answer();
    await eventually(read, ({ nonce }) => nonce === "0");
    expect((await read()).fence).toBe(before.fence);
    expect(service.errors).toEqual([]);
  } finally {
    answer();
    await service.stop();
  }
});

it("a step ends when its lease was lost while it waited for a node", async () => {
  const service = await startChainService();
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  try {
    let asked = 0;
    const block: ChainNode["block"] = async (...given) => {
      asked += 1;
      await answered;
      return await service.node.block(...given);
    };
    let isNoticed = false;
    const { leases } = service.store;
    const renew: ChainStore["leases"]["renew"] = async (...given) => {
      const renewed = await leases.renew(...given);
      isNoticed ||= renewed.length === 0;
      return renewed;
    };
    const store = { ...service.store, leases: { ...leases, renew } };
    const driver = service.startDriver({ node: { ...service.node, block }, store, leaseMs });
    await eventually(
      () => driver.isRunning(),
      (isRunning) => isRunning,
    );
    for (let mined = 0; mined < 3; mined++) service.chain.mine(() => true);
    await eventually(
      () => asked,
      (times) => times === 3,
    );
    await service.database.query(sql`
      UPDATE networks SET holder = gen_random_uuid(), fence = fence + 1, expires_at = now() + interval '1 minute'`);
    await eventually(
      () => isNoticed,
      (noticed) => noticed,
    );
    answer();
    await eventually(
      () => driver.isRunning(),
      (isRunning) => !isRunning,
    );
    expect(asked).toBe(3);
    expect(service.errors).toEqual([]);
  } finally {
    answer();
    await service.stop();
  }
});

it("a step does not wait for all blocks of a node that needs a second for each, and the tip is reached", async () => {
  const service = await startChainService();
  try {
    let nowMs = 0;
    /** How long each step has waited for blocks; a step begins by asking for the heads. */
    const steps: number[] = [];
    const first = await service.node.header(0);
    if (first === undefined) throw new Error("the chain has no first block");
    const heads: ChainNode["heads"] = async () => {
      steps.push(0);
      const { head } = service.chain;
      return { latest: { ...first, ...head() }, final: first };
    };
    let isAnswering = false;
    // What is asked for at once takes as long as one.
    const block: ChainNode["block"] = async (...given) => {
      if (!isAnswering) {
        nowMs += 1000;
        steps[steps.length - 1] = (steps.at(-1) ?? 0) + 1000;
      }
      isAnswering = true;
      return await service.node.block(...given).finally(() => {
        isAnswering = false;
      });
    };
    service.startDriver({ node: { ...service.node, heads, block }, monotonicMs: () => nowMs });
    const position = () => service.store.readPosition(modelNetwork);
    await eventually(position, (one) => one !== undefined);
    for (let mined = 0; mined < 100; mined++) service.chain.mine(() => true);
    await eventually(position, (one) => one?.tail.at(-1)?.number === 100);
    expect(Math.max(...steps)).toBeLessThanOrEqual(15_000);
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});

it("the tip is reached again after an outage although blocks come nearly as fast as a node gives them", async () => {
  const service = await startChainService();
  try {
    let nowMs = 0;
    let steps = 0;
    const [blockMs, answerMs] = [200, 100];
    const outage = 300;
    const first = await service.node.header(0);
    if (first === undefined) throw new Error("the chain has no first block");
    const { chain } = service;
    const heads: ChainNode["heads"] = async () => {
      steps += 1;
      nowMs += answerMs;
      while (chain.head().number < outage + nowMs / blockMs) chain.mine(() => true);
      return { latest: { ...first, ...chain.head() }, final: first };
    };
    let isAnswering = false;
    // What is asked for at once takes as long as one.
    const block: ChainNode["block"] = async (...given) => {
      if (!isAnswering) nowMs += answerMs;
      isAnswering = true;
      return await service.node.block(...given).finally(() => {
        isAnswering = false;
      });
    };
    const headersAt: ChainNode["headersAt"] = async (number) => {
      nowMs += answerMs;
      return await service.node.headersAt(number);
    };
    const node = { ...service.node, heads, block, headersAt };
    service.startDriver({ node, monotonicMs: () => nowMs });
    const lag = async () => {
      const tip = (await service.store.readPosition(modelNetwork))?.tail.at(-1)?.number ?? 0;
      return { steps, blocks: chain.head().number - tip };
    };
    await eventually(lag, (one) => one.steps > 0 && (one.blocks <= 10 || one.steps >= 100));
    expect((await lag()).blocks).toBeLessThanOrEqual(10);
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});
