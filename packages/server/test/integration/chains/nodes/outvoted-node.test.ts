import { afterAll, describe, expect, it } from "vitest";
import { NodesDisagreeError } from "../../../../src/app/chain/chain-node.js";
import type { OddNode } from "../../../../src/rails/evm/node/watch/odd-nodes.js";
import {
  closeNodes,
  devnetTokens,
  fundedAccount,
  newAddress,
  openNode,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { type Lie, startLyingNode } from "../../../harness/chain/lying-proxy.js";

const devnet = useDevnet();
afterAll(closeNodes);

const startLiar = (lie: Lie) => startLyingNode(devnet(), lie);

async function fundFinally(asset: "ETH" | "USDC") {
  const address = newAddress();
  const hash = await devnet().control("devnet_fund", { address, amount: "100", asset });
  const [block] = await devnet().control("devnet_mine", { blocks: 5 });
  return { address, hash, number: block?.number ?? 0 };
}

/** A node of three, of which this one is asked first. */
function openThree(url: string) {
  const odd: OddNode[] = [];
  const rpcUrls = [url, devnet().url, devnet().secondUrl];
  return { odd, node: openNode(devnet(), { rpcUrls }, { onOdd: (one) => odd.push(one) }) };
}

describe("a node that contradicts two others", () => {
  it("has nothing credited and halts nothing: another one is asked for the block, and it is named", async () => {
    const { address, hash, number } = await fundFinally("ETH");
    const raise = <T extends { hash?: string }>(item: T): T =>
      item.hash === hash ? { ...item, value: "0xffff" } : item;
    const liar = await startLiar((method, _params, result: { transactions: { hash: string }[] }) => {
      if (method === "eth_getTransactionByHash") return raise(result as never);
      const isWhole = method === "eth_getBlockByNumber" && typeof result?.transactions?.[0] === "object";
      return isWhole ? { ...result, transactions: result.transactions.map(raise) } : result;
    });
    const { node, odd } = openThree(liar.url);
    const read = () => node.finalBlocks(number, number, watchFor([address]));
    await expect(read()).rejects.toThrow(NodesDisagreeError);
    expect(await node.heads()).toMatchObject({ final: { number: expect.any(Number) } });
    expect((await read())[0]?.transfers).toMatchObject([{ hash, amount: 100n }]);
    expect(odd).toMatchObject([{ name: "Node 1 of eip155:31337" }]);
    expect(node.readOdd()).toEqual([true, false, false]);
  });

  it("does not hide balances, nor the transaction that has used a nonce", async () => {
    const { address, hash, number } = await fundFinally("ETH");
    const sent = (await devnet().request("eth_getTransactionByHash", [hash])) as Record<string, string>;
    const sender = { address: String(sent["from"]), nonce: Number(sent["nonce"]) };
    const liar = await startLiar((method, [named], result: { transactions?: { hash: string }[] }) => {
      if (method === "eth_getBalance") return "0xffff";
      if (method === "eth_getTransactionReceipt" && named === hash) return null;
      if (typeof result?.transactions?.[0] !== "object") return result;
      return { ...result, transactions: result.transactions.filter((one) => one.hash !== hash) };
    });
    const { node, odd } = openThree(liar.url);
    const heads = await node.heads();
    if ("halt" in heads) throw new Error(heads.halt);
    expect(await node.balances([{ address, contract: null }], heads.final)).toEqual([100n]);
    const use = await node.findNonceUse(sender, heads.final, [], async () => undefined);
    expect(use).toMatchObject({ block: { number }, outcome: { hash, success: true } });
    expect(new Set(odd.map(({ name }) => name))).toEqual(new Set(["Node 1 of eip155:31337"]));
  });

  it("does not hold up the search by headers of its own, nor change what the transaction pays", async () => {
    const { hash, number } = await fundFinally("ETH");
    const sent = (await devnet().request("eth_getTransactionByHash", [hash])) as Record<string, string>;
    const sender = { address: String(sent["from"]), nonce: Number(sent["nonce"]) };
    const headers = await startLiar((method, [named], result: object) =>
      method === "eth_getBlockByNumber" && Number(named) > 0
        ? { ...result, hash: `0x${"f".repeat(64)}` }
        : result,
    );
    const values = await startLiar((_method, _params, result: { transactions?: { hash: string }[] }) => {
      if (typeof result?.transactions?.[0] !== "object") return result;
      const forge = (one: { hash: string }) => ({ ...one, value: "0xffff", type: "0x0" });
      return { ...result, transactions: result.transactions.map(forge) };
    });
    for (const { url } of [headers, values]) {
      const { node, odd } = openThree(url);
      const heads = await node.heads();
      if ("halt" in heads) throw new Error(heads.halt);
      const use = await node.findNonceUse(sender, heads.final, watchFor([]).tokens, async () => undefined);
      expect(use).toMatchObject({ block: { number }, outcome: { hash, transfers: [{ amount: 100n }] } });
      expect(new Set(odd.map(({ name }) => name))).toEqual(new Set(["Node 1 of eip155:31337"]));
    }
  });
});

describe("a node of three that stands still", () => {
  /** It has no blocks after this one, and does not say so when it is asked for logs; no block has a filter. */
  const standing =
    (last: number): Lie =>
    (method, params, result: unknown) => {
      if (method === "eth_getLogs") return [];
      if (method === "eth_estimateGas" && params[1] !== "latest" && Number(params[1]) > last) return null;
      return withoutFilter(method, params, isAfter(result, last) ? (null as never) : (result as never));
    };
  const isAfter = (result: unknown, last: number) =>
    Number((result as { number?: string } | null)?.number ?? 0) > last;
  const withoutFilter: Lie = (_method, _params, result: unknown) =>
    typeof result === "object" && result !== null && "logsBloom" in result
      ? { ...result, logsBloom: `0x${"0".repeat(512)}` }
      : result;

  it("does not give the logs of blocks that it does not have", async () => {
    const { address, hash, number } = await fundFinally("USDC");
    const [first, second, third] = await Promise.all([
      startLiar(standing(number - 1)),
      startLiar(withoutFilter),
      startLiar(withoutFilter),
    ]);
    const node = openNode(devnet(), { rpcUrls: [first.url, second.url, third.url] });
    const [block] = await node.finalBlocks(number, number, watchFor([address]));
    expect(block?.transfers).toMatchObject([{ hash, amount: 100n }]);
  });

  it("holds up neither the final block, nor nonces, nor estimates", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    await devnet().control("devnet_mine", { blocks: 5 });
    const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract as string;
    const draft = { from: account.address.toLowerCase(), contract, destination: newAddress(), amount: 5n };
    const { head, finalized } = await devnet().control("devnet_status", {});
    const old = await openNode(devnet()).header(finalized - 2);
    const still = (tag: unknown) => tag === "latest" || tag === "finalized";
    const stands: Lie = (method, params, result) => {
      if (method === "eth_getBlockByNumber" && still(params[0]))
        return {
          ...(result as object),
          number: `0x${(params[0] === "latest" ? finalized : finalized - 2).toString(16)}`,
          hash: old?.hash,
        };
      return standing(finalized)(method, params, result);
    };
    const liar = await startLiar(stands);
    const { node } = openThree(liar.url);
    const heads = await node.heads(finalized - 2);
    expect(heads).toMatchObject({ latest: { number: head.number }, final: { number: finalized } });
    if ("halt" in heads) throw new Error(heads.halt);
    expect(await node.noncesAt([draft.from], heads.final)).toHaveLength(1);
    expect(await node.estimate([draft])).toMatchObject([{ dataFee: 0n }]);
  });
});
