import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BlockHeader, ChainBlock, ChainNode } from "../../../../src/app/chain/chain-node.js";
import {
  type ChainService,
  type ChainWallet,
  startChainService,
} from "../../../harness/chain/chain-service.js";
import { closeNodes, newAddress, openNode, useDevnet, watchFor } from "../../../harness/chain/devnet.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import {
  createModelChain,
  type ModelBlock,
  type ModelChain,
  modelCoin,
} from "../../../harness/chain/model-chain.js";
import { modelNetwork } from "../../../harness/chain/model-network.js";
import { createModelNode } from "../../../harness/chain/model-node.js";
import { eventually } from "../../../harness/eventually.js";

const headerOf = ({ number, hash, parentHash, baseFee }: ModelBlock): BlockHeader => ({
  ...{ number, hash, parentHash, baseFee, timeMs: 0 },
});

/** Which blocks the nodes name now, together. */
interface Named {
  latest: () => ModelBlock;
  final: () => ModelBlock;
}

describe("one of several nodes has a fork of its own, and", () => {
  let service: ChainService;
  let fork: ModelChain;
  let forked: ChainNode;
  let wallet: ChainWallet;
  let named: Named;

  beforeEach(async () => {
    service = await startChainService();
    wallet = await service.createWallet(await service.createTenant());
    fork = createModelChain();
    const options = { chain: fork, reach: async () => undefined, isAnswerLost: () => false, lag: () => 0 };
    forked = createModelNode({ ...options, wouldRevert: () => false });
    named = { latest: () => service.chain.blocks()[0] as ModelBlock, final: () => service.chain.final() };
  });
  afterEach(() => service.stop());

  const position = async () => {
    const read = await service.store.readPosition(modelNetwork);
    if (read === undefined) throw new Error("the network is not registered");
    return read;
  };
  const mineBoth = (blocks: number) => {
    for (let block = 0; block < blocks; block++)
      for (const chain of [service.chain, fork]) chain.mine(() => true);
  };
  const mine = (chain: ModelChain, blocks: number) => {
    for (let block = 0; block < blocks; block++) chain.mine(() => true);
  };
  /** The hashes of its next blocks are others. */
  const divide = () => fork.reorganise(0, () => false);
  const payTo = (chain: ModelChain, amount: bigint) =>
    chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount }]);

  /** How often each block was read by its hash. */
  const reads = new Map<string, number>();
  /** Blocks are what the node has that is asked for them by hash; what is final is what several nodes say. */
  const nodes = (): ChainNode => ({
    ...service.node,
    heads: async () => ({ latest: headerOf(named.latest()), final: headerOf(named.final()) }),
    block: async (hash, watch) => {
      reads.set(hash, (reads.get(hash) ?? 0) + 1);
      return (await service.node.block(hash, watch)) ?? (await forked.block(hash, watch));
    },
    headersAt: async (number) => {
      const headers = [...(await forked.headersAt(number)), ...(await service.node.headersAt(number))];
      return [...new Map(headers.map((header) => [header.hash, header])).values()];
    },
  });
  const registered = () =>
    eventually(
      () => service.store.readPosition(modelNetwork),
      (read) => read !== undefined,
    );
  const settled = (number: number) => eventually(position, ({ settledNumber }) => settledNumber === number);
  const credited = () => service.booked(wallet, modelCoin);

  it("what it has below the final block is not settled when its head is followed after an outage", async () => {
    mineBoth(2);
    service.startDriver({ node: nodes() });
    await registered();
    divide();
    payTo(fork, 7000n);
    mine(fork, 12);
    payTo(service.chain, 10n);
    mine(service.chain, 10);
    named.latest = () => fork.head();
    await settled(service.chain.final().number);
    expect(await credited()).toBe(10n);
    expect((await position()).tail[0]?.hash).toBe(service.chain.final().hash);
    expect(await service.halts()).toEqual([]);
  });

  it("what was followed of it is left when another block is final", async () => {
    mineBoth(6);
    named.latest = () => fork.head();
    service.startDriver({ node: nodes() });
    await registered();
    await settled(2);
    divide();
    payTo(fork, 7000n);
    mine(fork, 3);
    await eventually(position, ({ tail }) => tail.at(-1)?.hash === fork.head().hash);
    payTo(service.chain, 10n);
    mine(service.chain, 12);
    await settled(service.chain.final().number);
    expect(await credited()).toBe(10n);
    const [deposit] = await service.deposits(wallet);
    expect(deposit?.state).not.toBe("completed");
  });

  it("its fork is always the longest one: what is final is settled, and payments are made", async () => {
    mineBoth(6);
    named.latest = () => fork.head();
    service.startDriver({ node: nodes() });
    await registered();
    payTo(service.chain, 1_000_000_000n);
    payTo(fork, 1_000_000_000n);
    mineBoth(6);
    await settled(service.chain.final().number);
    divide();
    mine(fork, 40);
    await eventually(position, ({ tail }) => tail.at(-1)?.hash === fork.head().hash);
    const id = await service.pay(wallet, outside, modelCoin, 10n);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    mine(service.chain, 12);
    await settled(service.chain.final().number);
    expect((await service.read(id)).state).toBe("completed");
    expect(await service.halts()).toEqual([]);
    reads.clear();
    for (let step = 0; step < 10; step++) {
      mine(fork, 1);
      mine(service.chain, 1);
      await settled(service.chain.final().number);
    }
    const readAgain = fork.blocks().filter(({ hash }) => (reads.get(hash) ?? 0) > 1);
    expect(readAgain).toEqual([]);
  });

  it("the header of a block names a parent of the fork: nothing of the fork is settled", async () => {
    mineBoth(6);
    named.latest = () => service.chain.head();
    const node = nodes();
    let isLying = true;
    const first = () => service.chain.blocks()[9] as ModelBlock;
    const block: ChainNode["block"] = async (hash, watch) => {
      const read: ChainBlock | undefined = await node.block(hash, watch);
      const isFirst = isLying && read !== undefined && read.hash === service.chain.blocks()[9]?.hash;
      return isFirst ? { ...read, parentHash: fork.blocks()[8]?.hash ?? "" } : read;
    };
    service.startDriver({ node: { ...node, block } });
    await registered();
    await settled(2);
    divide();
    payTo(fork, 7000n);
    mine(fork, 3);
    payTo(service.chain, 10n);
    mine(service.chain, 4);
    await eventually(position, ({ tail }) => tail.at(-1)?.hash === service.chain.head().hash);
    expect((await position()).tail.map(({ hash }) => hash)).toContain(fork.blocks()[8]?.hash);
    expect(first().parentHash).not.toBe(fork.blocks()[8]?.hash);
    isLying = false;
    mine(service.chain, 6);
    await settled(service.chain.final().number);
    expect(await credited()).toBe(10n);
  });
});

describe("a node that has other blocks below the final one", () => {
  const devnet = useDevnet();
  afterAll(closeNodes);

  it("does not prevent that two others say which blocks are final, and give them", async () => {
    const address = newAddress();
    for (const asset of ["ETH", "USDC"] as const) {
      await devnet().control("devnet_fund", { address, amount: "100", asset });
      await devnet().control("devnet_mine", {});
    }
    const mined = await devnet().control("devnet_mine", { blocks: 4 });
    const to = mined.at(-1)?.number ?? 0;
    const from = to - 5;
    const { url, secondUrl } = devnet();
    const read = (...rpcUrls: readonly string[]) =>
      openNode(devnet(), { rpcUrls }).finalBlocks(from, to, watchFor([address]));
    const honest = await read(url);
    expect(honest.flatMap(({ transfers }) => transfers)).toHaveLength(2);
    await devnet().control("devnet_setConditions", { node: "second", conditions: { forkedFrom: from } });
    expect((await read(secondUrl))[0]?.hash).not.toBe(honest[0]?.hash);
    expect(await read(secondUrl, url, url)).toEqual(honest);
    await expect(read(secondUrl, url)).rejects.toThrow(
      `Node 1 of eip155:31337 and Node 2 of eip155:31337 disagree about block ${from}`,
    );
  });
});
