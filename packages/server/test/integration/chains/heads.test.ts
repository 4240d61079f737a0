import { afterAll, afterEach, describe, expect, it } from "vitest";
import { NodesDisagreeError, NodeUnavailableError } from "../../../src/app/chain/chain-node.js";
import { OperatorError } from "../../../src/operator-error.js";
import type { LaggingNode } from "../../../src/rails/evm/node/watch/lagging-nodes.js";
import { closeNodes, devnetTokens, newAddress, openNode, useDevnet } from "../../harness/chain/devnet.js";
import { resultsOf, startHostileNode } from "../../harness/chain/hostile-node.js";

const devnet = useDevnet();
afterAll(closeNodes);
afterEach(async () => {
  await devnet().control("devnet_setFinality", { safeDepth: 1, finalDepth: 3 });
  for (const node of ["main", "second"] as const) {
    await devnet().control("devnet_setConditions", { node, conditions: {} });
    await devnet().control("devnet_clearFaults", { node });
  }
});

const mine = (blocks: number) => devnet().control("devnet_mine", { blocks });
const setConditions = (node: "main" | "second", conditions: object) =>
  devnet().control("devnet_setConditions", { node, conditions });
const numbersOf = async (node: ReturnType<typeof openNode>) => {
  const heads = await node.heads();
  if ("halt" in heads) throw new Error(heads.halt);
  return [heads.latest.number, heads.final.number];
};

describe("the heads of a network", () => {
  it.each([
    [{ tag: "finalized" } as const, 3],
    [{ tag: "safe" } as const, 1],
    [{ depth: 2 } as const, 2],
  ])("are the newest block and the one that is final by %j", async (finality, behind) => {
    await mine(5);
    const { head } = await devnet().control("devnet_status", {});
    const node = openNode(devnet(), { finality });
    const heads = await node.heads();
    const { number, hash } = head;
    expect(heads).toMatchObject({ latest: { number, hash }, final: { number: number - behind } });
    expect(await node.header(head.number - behind)).toEqual("final" in heads && heads.final);
    expect(await node.header(head.number + 1)).toBeUndefined();
  });

  it("take the newest block of any node, and the lowest that is final for all", async () => {
    await mine(8);
    const { head } = await devnet().control("devnet_status", {});
    await setConditions("main", { lagBlocks: 2 });
    expect(await numbersOf(openNode(devnet()))).toEqual([head.number, head.number - 5]);
  });

  it("name the node that keeps the final block where it is, by its position", async () => {
    await mine(8);
    const { head } = await devnet().control("devnet_status", {});
    await setConditions("second", { lagBlocks: 2 });
    let laterMs = 0;
    const reported: LaggingNode[] = [];
    const node = openNode(
      devnet(),
      {},
      { monotonicMs: () => performance.now() + laterMs, onLagging: (one) => reported.push(one) },
    );
    for (let looks = 0; looks < 3; looks++) {
      await node.heads();
      laterMs += 40_000;
    }
    const final = head.number - 3;
    expect(reported).toEqual([{ name: "Node 2 of eip155:31337", finalNumber: final - 2, highest: final }]);
    expect(node.readLagging()).toEqual([false, true]);
  });

  it("do not move the final block on the word of a single node of two", async () => {
    const node = openNode(devnet());
    const [latest = 0, final = 0] = await numbersOf(node);
    await mine(2);
    await devnet().control("devnet_addFault", { node: "second", fault: { effect: { kind: "cut" } } });
    expect(await numbersOf(node)).toEqual([latest + 2, final]);
    await expect(openNode(devnet()).heads()).rejects.toThrow(/needs 2 nodes that agree/);
    await devnet().control("devnet_clearFaults", { node: "second" });
    await expect.poll(() => numbersOf(node), { timeout: 60_000 }).toEqual([latest + 2, final + 2]);
    expect(await numbersOf(openNode(devnet(), { rpcUrls: [devnet().url] }))).toEqual([latest + 2, final + 2]);
  });

  it("are a reason to halt if two nodes disagree about a final block, and not about one that is not final", async () => {
    await mine(8);
    const { head } = await devnet().control("devnet_status", {});
    await setConditions("second", { forkedFrom: head.number - 2 });
    expect(await numbersOf(openNode(devnet()))).toEqual([head.number, head.number - 3]);
    await setConditions("second", { forkedFrom: head.number - 3 });
    const halt = new RegExp(`^Node 1 of eip155:31337 and Node 2 .* disagree about block ${head.number - 3}`);
    expect(await openNode(devnet()).heads()).toEqual({ halt: expect.stringMatching(halt) });
  });

  it("are a reason to halt if a node is on another chain", async () => {
    await setConditions("second", { chainId: 1 });
    expect(await openNode(devnet()).heads()).toEqual({
      halt: "Node 2 of eip155:31337 is on chain 1 instead of 31337.",
    });
  });

  it("are unavailable, and no reason to halt, if nodes call their newest block final, as EDR itself does", async () => {
    await devnet().control("devnet_setFinality", { safeDepth: 0, finalDepth: 0 });
    await expect(openNode(devnet()).heads()).rejects.toThrow(/says nothing about finality/);
  });

  it("are unavailable if no node answers, or all of them are behind what was final", async () => {
    await mine(8);
    const node = openNode(devnet());
    await node.heads();
    for (const name of ["main", "second"] as const) await setConditions(name, { lagBlocks: 5 });
    await expect(node.heads()).rejects.toThrow(/lag behind its final block/);
    for (const name of ["main", "second"] as const)
      await devnet().control("devnet_addFault", { node: name, fault: { effect: { kind: "empty" } } });
    await expect(openNode(devnet()).heads()).rejects.toThrow(NodeUnavailableError);
  });
});

describe("the state after a block", () => {
  it("is what two nodes say that have exactly this block", async () => {
    const address = newAddress();
    const contract = devnetTokens[0]?.contract as string;
    await devnet().control("devnet_fund", { address, amount: "5", asset: "ETH" });
    await devnet().control("devnet_fund", { address, amount: "7", asset: "USDC" });
    const [block] = await mine(1);
    const before = await openNode(devnet()).header((block?.number ?? 0) - 1);
    const node = openNode(devnet());
    const accounts = [
      { address, contract: null },
      { address, contract },
    ];
    if (block === undefined || before === undefined) throw new Error("no block");
    expect(await node.balances(accounts, block)).toEqual([5n, 7n]);
    for (const conditions of [{ lagBlocks: 1 }, { forkedFrom: block.number }]) {
      await setConditions("main", conditions);
      expect(await node.balances(accounts, before)).toEqual([0n, 0n]);
      await expect(node.balances(accounts, block)).rejects.toThrow("Two nodes must give the state");
      const alone = openNode(devnet(), { rpcUrls: [devnet().url] });
      await expect(alone.balances(accounts, block)).rejects.toThrow(NodeUnavailableError);
    }
    await setConditions("main", {});
    await devnet().control("devnet_addFault", {
      node: "main",
      fault: { methods: ["eth_getBalance"], effect: { kind: "wrong", result: "0xffff" } },
    });
    await expect(node.balances(accounts, block)).rejects.toThrow(/disagree about the state after block/);
  });

  it("has the nonces that most nodes name, and none if two of two differ", async () => {
    const faucet = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    await devnet().control("devnet_fund", { address: newAddress(), amount: "5", asset: "ETH" });
    const [block] = await mine(1);
    if (block === undefined) throw new Error("no block");
    const [nonce = 0] = await openNode(devnet()).noncesAt([faucet], block);
    expect(nonce).toBeGreaterThan(0);
    await devnet().control("devnet_addFault", {
      node: "main",
      fault: { methods: ["eth_getTransactionCount"], effect: { kind: "wrong", result: "0xffff" } },
    });
    const { url: liar, secondUrl: honest } = devnet();
    const another = honest.replace("127.0.0.1", "localhost");
    for (const rpcUrls of [
      [liar, honest, another],
      [honest, liar, another],
      [honest, another, liar],
    ])
      expect(await openNode(devnet(), { rpcUrls }).noncesAt([faucet, faucet], block)).toEqual([nonce, nonce]);
    const two = openNode(devnet(), { rpcUrls: [honest, liar] });
    await expect(two.noncesAt([faucet], block)).rejects.toThrow(NodesDisagreeError);
    const four = openNode(devnet(), {
      rpcUrls: [honest, another, liar, liar.replace("127.0.0.1", "localhost")],
    });
    await expect(four.noncesAt([faucet], block)).rejects.toThrow(NodesDisagreeError);
  });

  it("has nonces that a lying `pending` does not change", async () => {
    const faucet = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    await devnet().control("devnet_fund", { address: newAddress(), amount: "5", asset: "ETH" });
    const [block] = await mine(1);
    if (block === undefined) throw new Error("no block");
    const node = openNode(devnet());
    const [nonce = 0] = await node.noncesAt([faucet], block);
    await devnet().control("devnet_fund", { address: newAddress(), amount: "5", asset: "ETH" });
    expect(await node.noncesAt([faucet, newAddress()], block)).toEqual([nonce, 0]);
    const [next] = await mine(1);
    expect(await node.noncesAt([faucet], next ?? block)).toEqual([nonce + 1]);
    const many = Array.from({ length: 250 }, () => faucet);
    expect(await node.noncesAt(many, block)).toEqual(many.map(() => nonce));
  });
});

describe("the probe at the start", () => {
  const probe = (settings: Parameters<typeof openNode>[1] = {}) => openNode(devnet(), settings).probe();

  it("compares the first block with that of the chain that was used before", async () => {
    const genesis = await openNode(devnet()).header(0);
    expect(await openNode(devnet()).probe(genesis?.hash)).toEqual([]);
    await expect(openNode(devnet()).probe(`0x${"1".repeat(64)}`)).rejects.toThrow(
      /^The first block of eip155:31337 is 0x[0-9a-f]{64}, as Node 1 .*, or use the database of this chain\.$/,
    );
  });

  it.each<[string, Parameters<typeof openNode>[1], string]>([
    [
      "another chain",
      { chainId: 1 },
      "Node 1 of eip155:31337 is on chain 31337, and the network is configured as chain 1. Correct its rpc_urls.",
    ],
    [
      "a token that is not there",
      { tokens: [{ asset: "GHOST", contract: newAddress(), decimals: 6 }] },
      "there is no contract at this address on eip155:31337.",
    ],
    [
      "a token with other decimals",
      { tokens: [{ ...(devnetTokens[0] as (typeof devnetTokens)[number]), decimals: 18 }] },
      "USDC is configured with 18 decimals, but the token 0x8464135c8f25da09e49bc8782676a84730c318bc on eip155:31337 has 6. Correct its decimals.",
    ],
    ["a data fee that is not charged", { hasDataFee: true }, "Remove data_fee."],
  ])("refuses %s with one sentence", async (_, settings, sentence) => {
    const error = await probe(settings).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(OperatorError);
    expect((error as Error).message).toContain(sentence);
  });

  it("refuses nodes of different chains, and finality that means nothing", async () => {
    await setConditions("second", { forkedFrom: 0 });
    await expect(probe()).rejects.toThrow(/^Node 1 of .* and Node 2 of .* have different first blocks/);
    await setConditions("second", {});
    await devnet().control("devnet_setFinality", { safeDepth: 0, finalDepth: 0 });
    await mine(1);
    await expect(probe()).rejects.toThrow(/calls its newest block \d+ `finalized`, which says nothing/);
    expect(await probe({ finality: { depth: 3 } })).toEqual([]);
    await devnet().control("devnet_setFinality", { safeDepth: 1, finalDepth: 3 });
  });

  it("refuses a node that does not keep the state of its final block", async () => {
    const effect = { kind: "error", code: -32000, message: "missing trie node", carriedOut: false } as const;
    const fault = { methods: ["eth_getBalance"], effect };
    await devnet().control("devnet_addFault", { node: "second", fault: { ...fault, times: 1 } });
    expect(await probe()).toEqual([]);
    await devnet().control("devnet_addFault", { node: "second", fault });
    await expect(probe()).rejects.toThrow(
      /^Node 2 of eip155:31337 does not have the state of block \d+, which is final \(error -32000: missing trie node\)/,
    );
    await expect(probe()).rejects.toBeInstanceOf(OperatorError);
    await devnet().control("devnet_clearFaults", { node: "second" });
  });

  it("refuses a node that names no final block, or has no base fee", async () => {
    const block = {
      number: "0x5",
      hash: `0x${"11".repeat(32)}`,
      parentHash: `0x${"22".repeat(32)}`,
      timestamp: "0x1",
    };
    const startNode = (withBaseFee: object) =>
      startHostileNode((calls, reply) =>
        reply(
          resultsOf(calls, ({ method, params: [named] }) => {
            if (method === "eth_chainId") return "0x7a69";
            if (named === "finalized") return null;
            return named === "0x0" ? { ...block, number: "0x0" } : { ...block, ...withBaseFee };
          }),
        ),
      );
    const modern = await startNode({ baseFeePerGas: "0x1" });
    await expect(probe({ rpcUrls: [modern.url] })).rejects.toThrow(/does not name a `finalized` block/);
    const old = await startNode({});
    await expect(probe({ rpcUrls: [old.url] })).rejects.toThrow(/has blocks without a base fee/);
  });

  it("does not refuse to start because no node answers, and shows no part of a URL", async () => {
    const rpcUrls = ["http://127.0.0.1:1/v3/CANARYKEY", "http://CANARYHOST.invalid/?key=CANARY"];
    const error = await probe({ rpcUrls }).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(NodeUnavailableError);
    expect(String((error as Error).stack)).not.toMatch(/canary/i);
  });
});
