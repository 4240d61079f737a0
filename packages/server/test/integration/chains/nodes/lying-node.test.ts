import { afterAll, describe, expect, it } from "vitest";
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

/** A final block with coins for an address, and for another one that is ours too. */
async function fundFinally() {
  const address = newAddress();
  const hash = await devnet().control("devnet_fund", { address, amount: "100", asset: "ETH" });
  const [block] = await devnet().control("devnet_mine", { blocks: 5 });
  return { address, hash, number: block?.number ?? 0 };
}

describe("a node that lies about a final block whose hash is right", () => {
  it("cannot have more credited than the other node knows of", async () => {
    const { address, hash, number } = await fundFinally();
    const raise = <T extends { hash?: string; value?: string }>(item: T): T =>
      item.hash === hash ? { ...item, value: "0xffff" } : item;
    const liar = await startLiar(
      (method, _params, result: { transactions: { hash: string; value: string }[] }) => {
        if (method === "eth_getTransactionByHash") return raise(result as never);
        const isWhole = method === "eth_getBlockByNumber" && typeof result?.transactions?.[0] === "object";
        return isWhole ? { ...result, transactions: result.transactions.map(raise) } : result;
      },
    );
    const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url] });
    expect(await node.heads()).toHaveProperty("final");
    await expect(node.finalBlocks(number, number, watchFor([address]))).rejects.toThrow("disagree");
    expect(await node.heads()).toEqual({
      halt: expect.stringContaining(`transaction ${hash} in the final block`),
    });
    // Alone it would be believed: that is what the second one is for.
    const alone = openNode(devnet(), { rpcUrls: [liar.url] });
    const [block] = await alone.finalBlocks(number, number, watchFor([address]));
    expect(block?.transfers).toMatchObject([{ amount: 65_535n }]);
  });

  it("cannot have a transfer credited as often as it repeats it", async () => {
    const { address, hash, number } = await fundFinally();
    const liar = await startLiar((_method, _params, result: { transactions?: { hash?: string }[] }) => {
      const own = result?.transactions?.find((item) => item.hash === hash);
      return own === undefined
        ? result
        : { ...result, transactions: [...(result.transactions ?? []), own, own, own] };
    });
    const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url] });
    expect(await node.heads()).toHaveProperty("final");
    const [block] = await node.finalBlocks(number, number, watchFor([address]));
    expect(block?.transfers).toMatchObject([{ hash, amount: 100n }]);
    const alone = openNode(devnet(), { rpcUrls: [liar.url] });
    await expect(alone.finalBlocks(number, number, watchFor([address]))).rejects.toThrow("transaction twice");
  });

  it("cannot invent a transaction, or the success of one", async () => {
    const { address, number } = await fundFinally();
    const invented = { hash: `0x${"ab".repeat(32)}`, from: newAddress(), to: address, value: "0x64" };
    const liar = await startLiar((method, [named], result: Record<string, unknown> & { hash: string }) => {
      const about = named === invented.hash;
      if (method === "eth_getTransactionReceipt" && about) return receipt;
      if (method === "eth_getTransactionByHash" && about)
        return { ...invented, blockHash: receipt.blockHash };
      const transactions = result?.["transactions"];
      if (method !== "eth_getBlockByNumber" || !Array.isArray(transactions)) return result;
      return { ...result, transactions: [...transactions, invented] };
    });
    const header = await openNode(devnet()).header(number);
    const receipt = {
      transactionHash: invented.hash,
      blockHash: header?.hash,
      status: "0x1",
      gasUsed: "0x5208",
      effectiveGasPrice: "0x1",
      logs: [],
    };
    const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url] });
    await expect(node.finalBlocks(number, number, watchFor([address]))).rejects.toThrow(
      `disagree about transaction ${invented.hash} in the final block ${header?.hash}`,
    );
    expect(await node.heads()).toEqual({ halt: expect.stringContaining("disagree about transaction") });
    // The two others decide if there are three.
    const three = openNode(devnet(), { rpcUrls: [liar.url, devnet().url, devnet().secondUrl] });
    await expect(three.finalBlocks(number, number, watchFor([address]))).rejects.toThrow("read again");
    const [block] = await three.finalBlocks(number, number, watchFor([address]));
    expect(block?.transfers).toMatchObject([{ amount: 100n }]);
    expect(three.readOdd()).toEqual([true, false, false]);
  });

  it("that was read before it was final does not become final for us", async () => {
    const address = newAddress();
    const hash = await devnet().control("devnet_fund", { address, amount: "100", asset: "USDC" });
    const liar = await startLiar(
      (method, _params, result: { data: string }[] & { transactionHash?: string }) => {
        if (method === "eth_getLogs") return result.map((log) => ({ ...log, data: `0x${"f".repeat(64)}` }));
        return method === "eth_getTransactionReceipt" ? null : result;
      },
    );
    const [block] = await devnet().control("devnet_mine", {});
    const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url] });
    const before = await node.heads();
    const seen = await node.block(block?.hash ?? "", watchFor([address]));
    expect(seen?.transfers).toMatchObject([{ hash, amount: 2n ** 256n - 1n }]);
    node.confirmLater(seen === undefined ? [] : [seen], watchFor([]).tokens);
    await devnet().control("devnet_mine", { blocks: 2 });
    expect(await node.heads()).toMatchObject({ final: { number: (block?.number ?? 0) - 1 } });
    await devnet().control("devnet_mine", {});
    expect(before).toHaveProperty("final");
    expect(await node.heads()).toEqual({
      halt: expect.stringContaining(`disagree about transaction ${hash}`),
    });
  });

  it("is no reason to wait for a block that a reorganisation has removed", async () => {
    const address = newAddress();
    await devnet().control("devnet_fund", { address, amount: "100", asset: "ETH" });
    const [block] = await devnet().control("devnet_mine", {});
    const node = openNode(devnet());
    await node.heads();
    const seen = await node.block(block?.hash ?? "", watchFor([address]));
    expect(seen?.transfers).toHaveLength(1);
    node.confirmLater(seen === undefined ? [] : [seen], watchFor([]).tokens);
    await devnet().control("devnet_reorganise", { depth: 1, add: 5, transactions: "drop" });
    const { finalized } = await devnet().control("devnet_status", {});
    expect(finalized).toBeGreaterThan(block?.number ?? 0);
    expect(await node.heads()).toMatchObject({ final: { number: finalized } });
  });

  it("cannot have a payment given up by leaving it out of its block", async () => {
    const { hash, number } = await fundFinally();
    const sent = (await devnet().request("eth_getTransactionByHash", [hash])) as Record<
      "from" | "nonce",
      string
    >;
    const sender = { address: sent.from, nonce: Number(sent.nonce) };
    await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "ETH" });
    await devnet().control("devnet_mine", { blocks: 40 });
    const { url, secondUrl } = devnet();
    const search = async (rpcUrls: readonly string[]) => {
      const node = openNode(devnet(), { rpcUrls });
      const heads = await node.heads();
      const at = "final" in heads ? heads.final : { number: 0, hash: "" };
      return {
        node,
        use: await node
          .findNonceUse(sender, at, [], async () => undefined)
          .catch((error: Error) => error.message),
      };
    };
    const liar = await startLiar((method, [named], result: { transactions?: { hash: string }[] }) => {
      if (method === "eth_getTransactionReceipt" && named === hash) return null;
      const isWhole = typeof result?.transactions?.[0] === "object";
      if (!isWhole) return result;
      return { ...result, transactions: result.transactions?.filter((one) => one.hash !== hash) };
    });
    const honest = await search([url, secondUrl]);
    expect(honest.use).toMatchObject({ block: { number }, outcome: { hash, success: true } });
    const { node, use } = await search([liar.url, url]);
    expect(use).toContain("Two nodes disagree about the transaction");
    expect(await node.heads()).toEqual({ halt: use });
    // Alone it is not contradicted, and shows nothing that a payment could fail for.
    expect((await search([liar.url])).use).toBeUndefined();
  });

  it("cannot have its own transaction taken for the one that has used a nonce", async () => {
    const { hash } = await fundFinally();
    const sent = (await devnet().request("eth_getTransactionByHash", [hash])) as Record<
      "from" | "nonce",
      string
    >;
    const sender = { address: sent.from, nonce: Number(sent.nonce) };
    const liar = await startLiar((_method, _params, result: { transactions?: { hash: string }[] }) => {
      const isWhole = typeof result?.transactions?.[0] === "object";
      if (!isWhole) return result;
      const forge = (one: { hash: string }) => (one.hash === hash ? { ...one, value: "0xffff" } : one);
      return { ...result, transactions: result.transactions?.map(forge) };
    });
    const node = openNode(devnet(), { rpcUrls: [liar.url] });
    const heads = await node.heads();
    const at = "final" in heads ? heads.final : { number: 0, hash: "" };
    await expect(node.findNonceUse(sender, at, [], async () => undefined)).rejects.toThrow(
      "1 nodes must give all of block",
    );
  });

  it("does not stop what both nodes know", async () => {
    const { address, hash, number } = await fundFinally();
    const [block] = await openNode(devnet()).finalBlocks(number, number, watchFor([address], [hash]));
    expect(block?.transfers).toMatchObject([{ hash, amount: 100n }]);
    expect(block?.outcomes).toMatchObject([{ hash, success: true }]);
  });
});

describe("a node that lies about what a payment costs, or whether it is possible", () => {
  const startFeeLiar = () =>
    startLiar((method, _params, history: { baseFeePerGas: string[] }) =>
      method === "eth_feeHistory"
        ? {
            baseFeePerGas: history.baseFeePerGas.map(() => "0x174876e800"),
            reward: history.baseFeePerGas.slice(1).map(() => ["0x5d21dba000"]),
          }
        : history,
    );

  it("does not set the fees, alone of two or of three, and alone no tip above the maximum", async () => {
    const liar = await startFeeLiar();
    const honest = await openNode(devnet()).market();
    const { url, secondUrl } = devnet();
    for (const rpcUrls of [
      [liar.url, url],
      [liar.url, url, secondUrl],
      [url, secondUrl, liar.url],
    ])
      expect(await openNode(devnet(), { rpcUrls }).market()).toEqual(honest);
    const alone = await openNode(devnet(), { rpcUrls: [liar.url] }).market();
    // Of 400 gwei, and twice the base fee of 100 gwei.
    expect(alone).toEqual({ maxFeePerGas: 220n * 10n ** 9n, maxPriorityFeePerGas: 20n * 10n ** 9n });
  });

  it("does not fail the payment of a token that the other node would make", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract as string;
    const draft = { from: account.address.toLowerCase(), contract, destination: newAddress(), amount: 5n };
    const liar = await startLiar((method, _params, result) =>
      method === "eth_call" ? `0x${"0".repeat(64)}` : result,
    );
    const node = openNode(devnet(), { rpcUrls: [liar.url, devnet().url] });
    await node.heads();
    expect(await node.estimate([draft])).toMatchObject([{ dataFee: 0n }]);
    const alone = openNode(devnet(), { rpcUrls: [liar.url] });
    expect(await alone.estimate([draft])).toEqual([{ refused: "WOULD_REVERT" }]);
  });

  it("does not decide how much gas a payment gets, alone of two or of three", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract as string;
    const draft = { from: account.address.toLowerCase(), contract, destination: newAddress(), amount: 5n };
    const { url, secondUrl } = devnet();
    const estimate = async (rpcUrls: readonly string[]) => {
      const node = openNode(devnet(), { rpcUrls });
      await node.heads();
      return await node.estimate([draft]);
    };
    const honest = await estimate([url]);
    expect(honest).toMatchObject([{ dataFee: 0n }]);
    // With too little the payment fails and is charged, and with too much it is above `fee_max`.
    for (const lie of ["0x5208", "0x2dc6c0"]) {
      const liar = await startLiar((method, _params, result) =>
        method === "eth_estimateGas" ? lie : result,
      );
      expect(await estimate([liar.url, url, secondUrl])).toEqual(honest);
      expect(await estimate([liar.url, url])).toEqual([{ refused: "UNAVAILABLE" }]);
      expect(await estimate([liar.url])).not.toEqual(honest);
    }
  });
});
