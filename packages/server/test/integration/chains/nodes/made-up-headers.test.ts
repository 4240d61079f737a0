import { afterAll, expect, it } from "vitest";
import type { BlockHeader, ChainNode } from "../../../../src/app/chain/chain-node.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { closeNodes, openNode, useDevnet, watchFor } from "../../../harness/chain/devnet.js";
import { outside } from "../../../harness/chain/driven-chain.js";
import { startHostileNode } from "../../../harness/chain/hostile-node.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { modelChainNetwork, modelNetwork } from "../../../harness/chain/model-network.js";
import { eventually } from "../../../harness/eventually.js";

const devnet = useDevnet();
afterAll(closeNodes);

const madeUp = (header: BlockHeader, number: number) => ({ ...header, number, hash: `0xmadeup${number}` });

it("blocks are followed up to the tip although a node makes up a head and the headers below it", async () => {
  const service = await startChainService({ network: { ...modelChainNetwork, finality: { depth: 4 } } });
  try {
    let final: BlockHeader | undefined;
    const claimed = () => service.chain.head().number + 1000;
    /** Also of blocks that the others have. */
    const headersAt: ChainNode["headersAt"] = async (number) => {
      const headers = await service.node.headersAt(number);
      const model = headers[0] ?? (await service.node.header(0));
      return model === undefined || number > claimed() ? headers : [madeUp(model, number), ...headers];
    };
    const node: ChainNode = {
      ...service.node,
      heads: async (...given) => {
        const heads = await service.node.heads(...given);
        if ("halt" in heads) return heads;
        // Nothing more becomes final: what is read now is not read because it is final.
        final ??= heads.final;
        return { latest: madeUp(heads.latest, claimed()), final };
      },
      header: async (number) =>
        number > (final?.number ?? 0) ? (await headersAt(number))[0] : service.node.header(number),
      headersAt,
    };
    service.chain.mine(() => true);
    service.startDriver({ node });
    const wallet = await service.createWallet(await service.createTenant());
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount: 1_000n }]);
    for (let block = 0; block < 150; block++) service.chain.mine(() => true);
    const { number, hash } = service.chain.head();
    await eventually(
      async () => (await service.store.readPosition(modelNetwork))?.tail.at(-1),
      (tip) => tip?.number === number && tip.hash === hash,
    );
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});

it("payments go on although a node gives a block with another number than its own under the hash of its head", async () => {
  const service = await startChainService();
  try {
    const claimedHash = "0xclaimed";
    const node: ChainNode = {
      ...service.node,
      heads: async (...given) => {
        const heads = await service.node.heads(...given);
        if ("halt" in heads) return heads;
        const { latest } = heads;
        return { ...heads, latest: { ...latest, number: latest.number + 1, hash: claimedHash } };
      },
      block: async (hash, watch) => {
        if (hash !== claimedHash) return await service.node.block(hash, watch);
        const header = (await service.node.header(service.chain.head().number)) as BlockHeader;
        const wrong = { number: header.number + 50, hash, parentHash: header.hash };
        return { ...header, ...wrong, transfers: [], outcomes: [] };
      },
    };
    service.startDriver({ node });
    const wallet = await service.createWallet(await service.createTenant());
    await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    const amount = 1_000_000_000_000n;
    service.chain.pay([{ asset: modelCoin, from: outside, to: wallet.address, amount }]);
    for (let block = 0; block < 8; block++) service.chain.mine(() => true);
    await eventually(
      () => service.booked(wallet, modelCoin),
      (booked) => booked === amount,
    );
    const id = await service.pay(wallet, outside, modelCoin, 1n);
    await eventually(
      async () => service.chain.pool().length,
      (count) => count === 1,
    );
    for (let block = 0; block < 8; block++) service.chain.mine(() => true);
    await eventually(
      async () => (await service.read(id)).state,
      (state) => state === "completed",
    );
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});

it("a header is what each node says, and first what most of them say, also if the first one has made it up", async () => {
  const liar = await startHostileNode((calls, reply) => {
    const answers = calls.map(async ({ id, method, params }) => {
      const block = (await devnet().request(method, params)) as Record<string, unknown> | null;
      const hash = `0x${"f".repeat(64)}`;
      return { jsonrpc: "2.0", id, result: block === null ? null : { ...block, hash } };
    });
    void Promise.all(answers).then((all) => reply(all.length === 1 ? all[0] : all));
  });
  const [mined = { number: 0, hash: "" }] = await devnet().control("devnet_mine", {});
  const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url, devnet().secondUrl] });
  const headers = await node.headersAt(mined.number);
  expect(headers.map(({ hash }) => hash)).toEqual([mined.hash, `0x${"f".repeat(64)}`]);
  expect(await node.headersAt(mined.number + 1000)).toEqual([]);
});

it("blocks are followed up to the tip although a node names a parent that nobody has", async () => {
  const service = await startChainService();
  try {
    let asked: readonly string[] = [];
    let final: BlockHeader | undefined;
    const misnamedAt = () => service.chain.blocks()[9]?.hash ?? "";
    const node: ChainNode = {
      ...service.node,
      heads: async (...given) => {
        const heads = await service.node.heads(...given);
        if ("halt" in heads) return heads;
        final ??= heads.final;
        return { ...heads, final };
      },
      block: async (hash, watch) => {
        const block = await service.node.block(hash, watch);
        // Another node gives it when the first one was found to be wrong.
        const isWrong = block !== undefined && hash === misnamedAt() && !asked.includes(hash);
        return isWrong ? { ...block, parentHash: "0xmadeup" } : block;
      },
      misnamedParents: async (blocks) => {
        const misnamed = await service.node.misnamedParents(blocks);
        asked = [...asked, ...misnamed];
        return misnamed;
      },
    };
    service.startDriver({ node });
    const registered = await eventually(
      () => service.store.readPosition(modelNetwork),
      (one) => one !== undefined,
    );
    expect(registered?.settledNumber).toBe(0);
    for (let block = 0; block < 10; block++) service.chain.mine(() => true);
    await eventually(
      async () => (await service.store.readPosition(modelNetwork))?.tail.at(-1)?.hash,
      (hash) => hash === service.chain.head().hash,
    );
    expect(asked).toEqual([misnamedAt()]);
    expect(service.errors).toEqual([]);
  } finally {
    await service.stop();
  }
});

it("a parent is what the larger group names, and a node that names another one is odd", async () => {
  const [, mined] = await devnet().control("devnet_mine", { blocks: 2 });
  if (mined === undefined) throw new Error("nothing was mined");
  const { parentHash } = (await openNode(devnet()).header(mined.number)) as BlockHeader;
  const madeUpParent = `0x${"e".repeat(64)}`;
  const liar = await startHostileNode((calls, reply) => {
    const answers = calls.map(async ({ id, method, params }) => {
      const block = (await devnet().request(method, params)) as Record<string, unknown>;
      return { jsonrpc: "2.0", id, result: { ...block, parentHash: madeUpParent } };
    });
    void Promise.all(answers).then((all) => reply(all.length === 1 ? all[0] : all));
  });
  const { url, secondUrl } = devnet();
  const given = { hash: mined.hash, parentHash: madeUpParent };
  const three = openNode(devnet(), { rpcUrls: [liar.url, url, secondUrl] });
  expect(await three.misnamedParents([given, { ...given, parentHash }])).toEqual([mined.hash]);
  expect(three.readOdd()).toEqual([true, false, false]);
  // Of two nothing says which one is wrong, and the other one is asked first from then on.
  const two = openNode(devnet(), { rpcUrls: [liar.url, url] });
  expect((await two.block(mined.hash, watchFor([])))?.parentHash).toBe(madeUpParent);
  expect(await two.misnamedParents([given])).toEqual([mined.hash]);
  expect((await two.block(mined.hash, watchFor([])))?.parentHash).toBe(parentHash);
  expect(await openNode(devnet(), { rpcUrls: [liar.url] }).misnamedParents([given])).toEqual([]);
});
