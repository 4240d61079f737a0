import { afterAll, describe, expect, it } from "vitest";
import {
  closeNodes,
  devnetTokens,
  newAddress,
  openNode,
  useDevnet,
  watchFor,
} from "../../../harness/chain/devnet.js";
import { type Lie, startLyingNode } from "../../../harness/chain/lying-proxy.js";

const devnet = useDevnet();
afterAll(closeNodes);

interface Shown {
  hash: string;
  number: string;
  transactions: unknown[];
}

const invented = `0x${"ab".repeat(32)}`;
const isWhole = (result: unknown): result is Shown =>
  typeof (result as Partial<Shown> | null)?.transactions?.[0] === "object";

/** Each is right in its form, and cannot be about the same block as the rest. */
const lies: readonly [what: string, lie: (address: string, wrong: { hash: string }) => Lie][] = [
  [
    "names a log of a transaction that its block lacks",
    (address, wrong) => (method, _params, result: { transactionHash: string }[]) => {
      const isOurs = method === "eth_getLogs" && result.length > 0;
      return isOurs ? [...result, { ...logTo(address, wrong.hash), transactionHash: invented }] : result;
    },
  ],
  ["shows a transaction that has no receipt", (address) => adding(address)],
  [
    "shows one without a receipt in a block whose filter excludes nothing",
    (address) => adding(address, { logsBloom: `0x${"f".repeat(512)}` }),
  ],
  [
    "shows a transaction of another block",
    (address) => (method, params, result) => {
      const lie = adding(address, {}, elsewhere.hash);
      return method === "eth_getTransactionReceipt" ? result : lie(method, params, result);
    },
  ],
];
const elsewhere = { hash: invented };

function logTo(address: string, blockHash: string) {
  const contract = devnetTokens.find(({ asset }) => asset === "USDC")?.contract;
  const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const topics = [transfer, `0x${"0".repeat(64)}`, `0x${address.slice(2).padStart(64, "0")}`];
  return { address: contract, topics, data: `0x${"1".padStart(64, "0")}`, blockHash, logIndex: "0x9" };
}

function adding(address: string, more: object = {}, hash = invented): Lie {
  const added = { hash, from: address, to: address, value: "0x7" };
  return (_method, _params, result) =>
    isWhole(result)
      ? { ...(result as Shown), ...more, transactions: [...(result as Shown).transactions, added] }
      : result;
}

/** A block with coins and tokens for an address, final if so many blocks follow. */
async function fund(followed: number) {
  const address = newAddress();
  elsewhere.hash = await devnet().control("devnet_fund", {
    address: newAddress(),
    amount: "1",
    asset: "ETH",
  });
  await devnet().control("devnet_mine", {});
  await devnet().control("devnet_fund", { address, amount: "100", asset: "ETH" });
  await devnet().control("devnet_fund", { address, amount: "100", asset: "USDC" });
  // From eight on, the receipts of all of a block are asked for at once.
  for (let more = 0; more < 7; more++)
    await devnet().control("devnet_fund", { address: newAddress(), amount: "1", asset: "ETH" });
  const [block] = await devnet().control("devnet_mine", { blocks: 1 + followed });
  if (block === undefined) throw new Error("nothing was mined");
  return { address, block };
}

/** The node is the first of three, or of two. */
async function openWith(lie: Lie, count: 2 | 3) {
  const { url } = await startLyingNode(devnet(), lie);
  return openNode(devnet(), { rpcUrls: [url, devnet().url, devnet().secondUrl].slice(0, count) });
}

const paid = [
  { amount: 100n, asset: "ETH" },
  { amount: 100n, asset: "USDC" },
];

describe.each(lies)("a node that %s", (_, lieOf) => {
  it.each([2, 3] as const)("is passed over, of %i, for a final block and for a new one", async (count) => {
    const { address, block } = await fund(5);
    const final = await openWith(lieOf(address, block), count);
    const [read] = await final.finalBlocks(block.number, block.number, watchFor([address]));
    expect(read?.transfers).toMatchObject(paid);
    expect(final.readOdd()[0]).toBe(true);
    expect(final.readOdd().slice(1)).not.toContain(true);
    const tip = await openWith(lieOf(address, block), count);
    expect((await tip.block(block.hash, watchFor([address])))?.transfers).toMatchObject(paid);
    expect(tip.readOdd()[0]).toBe(true);
  });
});

describe("a node that names a log which the filter of its block excludes", () => {
  it("is passed over if the receipt lacks it, for a final block and for a new one", async () => {
    const { address, block } = await fund(5);
    const other = newAddress();
    const lie: Lie = (method, _params, result: { transactionHash: string }[]) => {
      const [real] = method === "eth_getLogs" ? result : [];
      const made = { ...logTo(other, block.hash), transactionHash: real?.transactionHash };
      return real === undefined ? result : [...result, made];
    };
    const watch = watchFor([address, other]);
    const final = await openWith(lie, 3);
    const [read] = await final.finalBlocks(block.number, block.number, watch);
    expect(read?.transfers).toMatchObject(paid);
    expect(final.readOdd()).toEqual([true, false, false]);
    const tip = await openWith(lie, 3);
    expect((await tip.block(block.hash, watch))?.transfers).toMatchObject(paid);
    expect(tip.readOdd()).toEqual([true, false, false]);
  });
});

describe("a node that contradicts itself", () => {
  it("is what the error names if no other has the block", async () => {
    const { address, block } = await fund(0);
    const { url } = await startLyingNode(devnet(), adding(address));
    const lacking = await startLyingNode(devnet(), (method, _params, result) =>
      method === "eth_getBlockByHash" ? null : result,
    );
    const node = openNode(devnet(), { rpcUrls: [url, lacking.url] });
    await expect(node.block(block.hash, watchFor([address]))).rejects.toThrow(
      /without a contradiction: Node 1 of eip155:31337: The receipt of transaction 0x(ab)+ .* Node 2 of eip155:31337: .* does not have it/,
    );
    expect(node.readOdd()).toEqual([false, false]);
  });

  it("does not hide a new block by another number", async () => {
    const { address, block } = await fund(0);
    const node = await openWith(
      (_method, _params, result) => (isWhole(result) ? { ...(result as Shown), number: "0x1" } : result),
      2,
    );
    const read = await node.block(block.hash, watchFor([address]), block.number);
    expect(read).toMatchObject({ number: block.number, transfers: paid });
  });
});
