import { afterAll, expect, it } from "vitest";
import type { BlockHeader, ChainNode } from "../../../../src/app/chain/chain-node.js";
import { startChainService } from "../../../harness/chain/chain-service.js";
import { closeNodes, openNode, useDevnet } from "../../../harness/chain/devnet.js";
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

it("a header is what each node says, also if the first one has made it up", async () => {
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
  expect(headers.map(({ hash }) => hash)).toEqual([`0x${"f".repeat(64)}`, mined.hash]);
  expect(await node.headersAt(mined.number + 1000)).toEqual([]);
});
