import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ChainNode, NodeUnavailableError } from "../../../../src/app/chain/chain-node.js";
import { type DrivenChain, outside, startDrivenChain } from "../../../harness/chain/driven-chain.js";
import { modelCoin } from "../../../harness/chain/model-chain.js";
import { eventually } from "../../../harness/eventually.js";

const unavailable = async () => {
  throw new NodeUnavailableError("Two nodes must confirm it, and only Node 1 can.");
};
const missing: [string, Partial<ChainNode>][] = [
  ["which block is final", { heads: unavailable }],
  ["which blocks are below it", { finalHeaders: unavailable }],
  ["what is in the blocks below it", { finalBlocks: unavailable }],
];

describe("while a second node is missing that would confirm", () => {
  let service: DrivenChain;
  beforeEach(async () => {
    service = await startDrivenChain();
  });
  afterEach(() => service.stop());

  it.each(missing)("%s, payments with a nonce are signed, sent and stopped", async (_what, missingPart) => {
    const wallet = await service.createFunded();
    const stopped = await service.pay(wallet, outside, modelCoin, 7n);
    await service.inPool(1);
    const unsigned = async () => {
      throw new Error("the signer does not answer");
    };
    service.ports.signer = { ...service.honest.signer, sign: unsigned };
    const sent = await service.pay(wallet, outside, modelCoin, 5n);
    await eventually(
      () => service.nonceOf(sent),
      (nonce) => nonce === 1,
    );
    service.ports.node = { ...service.honest.node, ...missingPart };
    for (let block = 0; block < 7; block++) service.chain.mine(() => false);
    service.ports.signer = service.honest.signer;
    const inPool = async (id: string, purpose: string) =>
      await eventually(
        async () => service.chain.pool().map(({ intent }) => `${intent?.transactionId} ${intent?.purpose}`),
        (pool) => pool.includes(`${id} ${purpose}`),
      );
    await inPool(sent, "payment");
    await service.requestCancel(wallet, stopped);
    await inPool(stopped, "cancellation");
    expect(String(service.errors.at(-1))).toContain("Two nodes must confirm it");
    service.ports.node = service.honest.node;
    service.mine(5);
    await service.until(stopped, "cancelled");
    await service.until(sent, "completed");
    expect(await service.halts()).toEqual([]);
  });
});
