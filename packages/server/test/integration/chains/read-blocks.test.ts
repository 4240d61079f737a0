import { contracts } from "@bursar/devnet";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { isPaidExactly } from "../../../src/rails/evm/transaction/paid-exactly.js";
import {
  closeNodes,
  devnetTokens,
  encodeCall,
  fundedAccount,
  newAddress,
  openNode,
  sendRaw,
  signPayment,
  useDevnet,
  watchFor,
} from "../../harness/chain/devnet.js";

const devnet = useDevnet();
afterAll(closeNodes);
afterEach(async () => {
  for (const node of ["main", "second"] as const) {
    await devnet().control("devnet_setConditions", { node, conditions: {} });
    await devnet().control("devnet_clearFaults", { node });
  }
});

const mine = async () => {
  const [block] = await devnet().control("devnet_mine", {});
  return block as { number: number; hash: string };
};
const fund = (address: string, amount: bigint, asset: "ETH" | "USDC" | "LOGONLY") =>
  devnet().control("devnet_fund", { address, amount: amount.toString(), asset });
const token = (name: "USDC" | "FALSE" | "NORET" | "FEE" | "LOGONLY") =>
  devnetTokens.find(({ asset }) => asset === name)?.contract as string;

describe("a block", () => {
  it("has the coins and tokens that arrived at our addresses, and nothing else", async () => {
    const [ours, other] = [newAddress(), newAddress()];
    const hashes = [
      await fund(ours, 7n, "ETH"),
      await fund(other, 8n, "ETH"),
      await fund(ours, 9n, "USDC"),
      await fund(other, 10n, "USDC"),
    ];
    const { number, hash } = await mine();
    const watch = watchFor([ours]);
    const block = await openNode(devnet()).block(hash, watch);
    expect(block).toMatchObject({ number, hash, outcomes: [] });
    expect(block?.transfers).toMatchObject([
      { hash: hashes[0], ordinal: 0, asset: "ETH", to: ours, amount: 7n },
      { hash: hashes[2], ordinal: 1, asset: "USDC", to: ours, amount: 9n },
    ]);
    expect(watch.lookups).toBe(2);
  });

  it("has the outcomes of our attempts, with the fee to the wei", async () => {
    const account = await fundedAccount(devnet(), { USDC: 100n });
    const [to, node] = [newAddress(), openNode(devnet())];
    const coin = await signPayment(account, { nonce: 0, to, value: 5n, gas: 21_000n });
    const transfer = encodeCall("transfer", [to, 60n]);
    const paid = await signPayment(account, { nonce: 1, to: token("USDC"), data: transfer });
    const failing = await signPayment(account, { nonce: 2, to: token("USDC"), data: transfer });
    const hashes: string[] = [];
    for (const raw of [coin, paid, failing]) hashes.push(await sendRaw(devnet(), raw));
    const before = await devnet().control("devnet_status", {});
    const { number, hash } = await mine();
    const block = await node.block(hash, watchFor([], hashes));
    const from = account.address.toLowerCase();
    expect(block?.outcomes).toMatchObject([
      { success: true, transfers: [{ ordinal: 0, asset: "ETH", from, to, amount: 5n }] },
      { success: true, transfers: [{ ordinal: 1, asset: "USDC", from, to, amount: 60n }] },
      { success: false, transfers: [] },
    ]);
    const accounts = [{ address: from, contract: null }];
    const [had] = await node.balances(accounts, before.head);
    const [has] = await node.balances(accounts, { number, hash });
    const fees = (block?.outcomes ?? []).reduce((sum, { fee }) => sum + fee, 0n);
    expect((had as bigint) - (has as bigint)).toBe(5n + fees);
    const payment = { asset: "USDC", contract: token("USDC"), from, to, amount: 60n };
    expect(block?.outcomes.map((outcome) => isPaidExactly(outcome, payment))).toEqual([false, true, false]);
  });

  it("does not have coins of a transaction that failed", async () => {
    const account = await fundedAccount(devnet());
    const receiver = contracts.receiver.address.toLowerCase();
    const raw = await signPayment(account, { nonce: 0, to: receiver, value: 5n, gas: 21_100n });
    await sendRaw(devnet(), raw);
    const { hash } = await mine();
    const block = await openNode(devnet()).block(hash, watchFor([receiver]));
    expect(block?.transfers).toEqual([]);
  });

  it("that no node has is undefined, and one that a node lacks is read from the other", async () => {
    const ours = newAddress();
    await fund(ours, 7n, "USDC");
    const { hash } = await mine();
    const node = openNode(devnet());
    expect(await node.block(`0x${"ab".repeat(32)}`, watchFor([ours]))).toBeUndefined();
    await devnet().control("devnet_setConditions", { node: "main", conditions: { lagBlocks: 2 } });
    expect((await node.block(hash, watchFor([ours])))?.transfers).toHaveLength(1);
  });
});

describe("logs", () => {
  const addresses = [newAddress(), newAddress(), newAddress()] as const;

  /** A transaction that pays the same token to three addresses. */
  async function signSplit(nonce: number, account: Awaited<ReturnType<typeof fundedAccount>>) {
    const data = encodeCall("splitToken", [token("USDC"), addresses, 10n]);
    return await signPayment(account, { nonce, to: contracts.splitter.address, data, gas: 500_000n });
  }

  it("of one transaction have ordinals that stay the same when it is included again behind others", async () => {
    const account = await fundedAccount(devnet(), { USDC: 1000n });
    const other = await fundedAccount(devnet(), { USDC: 1000n });
    const approve = encodeCall("approve", [contracts.splitter.address, 1000n]);
    await sendRaw(devnet(), await signPayment(account, { nonce: 0, to: token("USDC"), data: approve }));
    const hash = await sendRaw(devnet(), await signSplit(1, account));
    const first = await mine();
    const node = openNode(devnet());
    const watch = watchFor(addresses);
    const before = await node.block(first.hash, watch);
    expect(before?.transfers.map(({ ordinal, to }) => [ordinal, to])).toEqual([
      [1, addresses[0]],
      [2, addresses[1]],
      [3, addresses[2]],
    ]);
    const transfer = encodeCall("transfer", [addresses[0], 1n]);
    const front = await signPayment(other, { nonce: 0, to: token("USDC"), data: transfer });
    const { added } = await devnet().control("devnet_reorganise", {
      depth: 1,
      transactions: "include",
      first: [[front]],
    });
    const again = await node.block(added[0]?.hash ?? "", watch);
    expect(again?.transfers).toHaveLength(4);
    expect(again?.hash).not.toBe(first.hash);
    expect(again?.transfers.filter((transfer) => transfer.hash === hash)).toEqual(before?.transfers);
    expect(await node.block(first.hash, watch)).toBeUndefined();
  });

  it("that a node leaves out are found, because the block's filter allows them", async () => {
    const ours = newAddress();
    await fund(ours, 5n, "USDC");
    const { number, hash } = await mine();
    const node = openNode(devnet());
    for (const name of ["main", "second"] as const)
      await devnet().control("devnet_addFault", {
        node: name,
        fault: { methods: ["eth_getLogs"], effect: { kind: "empty" } },
      });
    expect((await node.block(hash, watchFor([ours])))?.transfers).toMatchObject([{ amount: 5n }]);
    const [block] = await node.finalBlocks(number, number, watchFor([ours]));
    expect(block?.transfers).toMatchObject([{ amount: 5n, ordinal: 1 }]);
  });

  it("are found without the receipts of whole blocks, which not every node offers", async () => {
    const ours = newAddress();
    for (let count = 0; count < 10; count++) await fund(ours, 5n, count % 2 === 0 ? "USDC" : "ETH");
    const { hash } = await mine();
    const error = { kind: "error", code: -32_601, message: "not available", carriedOut: false } as const;
    for (const name of ["main", "second"] as const) {
      const add = (method: string, effect: typeof error | { kind: "empty" }) =>
        devnet().control("devnet_addFault", { node: name, fault: { methods: [method], effect } });
      await add("eth_getBlockReceipts", error);
      await add("eth_getLogs", { kind: "empty" });
    }
    const node = openNode(devnet());
    for (let count = 0; count < 2; count++)
      expect((await node.block(hash, watchFor([ours])))?.transfers).toHaveLength(10);
    const faults = await devnet().control("devnet_listFaults", { node: "main" });
    expect(Object.values(faults)).toEqual([1, 2]);
  });

  it("of tokens that misbehave are reported as they are, and only an exact transfer is a payment", async () => {
    const amounts = { NORET: 100n, FALSE: 100n, FEE: 100n, LOGONLY: 100n };
    const account = await fundedAccount(devnet(), amounts);
    const from = account.address.toLowerCase();
    const to = newAddress();
    const names = ["NORET", "FALSE", "FEE", "LOGONLY"] as const;
    const hashes: string[] = [];
    for (const [nonce, name] of names.entries()) {
      const data = encodeCall("transfer", [to, 100n]);
      hashes.push(await sendRaw(devnet(), await signPayment(account, { nonce, to: token(name), data })));
    }
    const { number, hash } = await mine();
    const node = openNode(devnet());
    const block = await node.block(hash, watchFor([to], hashes));
    const paid = names.map((asset, index) => {
      const outcome = block?.outcomes[index];
      return outcome && isPaidExactly(outcome, { asset, contract: token(asset), from, to, amount: 100n });
    });
    expect(paid).toEqual([true, false, true, true]);
    const accounts = names.map((asset) => ({ address: to, contract: token(asset) }));
    expect(await node.balances(accounts, { number, hash })).toEqual([100n, 0n, 99n, 0n]);
  });
});

describe("final blocks", () => {
  it("are read in parts of at most 32, linked, with the same contents as at the tip", async () => {
    const ours = newAddress();
    const before = (await devnet().control("devnet_status", {})).head.number;
    for (let count = 0; count < 20; count++) {
      if (count % 3 !== 0) await fund(ours, BigInt(count), "USDC");
      if (count % 4 !== 0) await fund(ours, BigInt(count), "ETH");
      await devnet().control("devnet_mine", { blocks: 2 });
    }
    const node = openNode(devnet());
    const watch = watchFor([ours]);
    const first = await node.finalBlocks(before + 1, before + 40, watch);
    expect(watch.lookups).toBe(2);
    expect(first.map(({ number }) => number)).toEqual(
      Array.from({ length: 32 }, (_, index) => before + 1 + index),
    );
    const rest = await node.finalBlocks(before + 33, before + 40, watch);
    const all = [...first, ...rest];
    expect(all).toHaveLength(40);
    for (const block of all) expect(await node.block(block.hash, watch)).toEqual(block);
    const sum = all.flatMap(({ transfers }) => transfers).reduce((total, { amount }) => total + amount, 0n);
    expect(sum).toBe(190n - 63n + 190n - 40n);
  });

  it.each(["alchemy", "base", "cloudflare", "infura", "reth"] as const)(
    "are read in smaller ranges if the node refuses them as %s does",
    async (provider) => {
      const ours = newAddress();
      const before = (await devnet().control("devnet_status", {})).head.number;
      for (let count = 0; count < 6; count++) {
        await fund(ours, 1n, "USDC");
        await devnet().control("devnet_mine", { blocks: 2 });
      }
      for (const node of ["main", "second"] as const) {
        await devnet().control("devnet_setConditions", { node, conditions: { logsRangeMax: 3, provider } });
        // Without them the receipts would show the same.
        const methods = ["eth_getBlockReceipts", "eth_getTransactionReceipt"];
        const fault = { methods, effect: { kind: "empty" } } as const;
        await devnet().control("devnet_addFault", { node, fault });
      }
      const node = openNode(devnet(), { rpcUrls: [devnet().url] });
      const blocks = await node.finalBlocks(before + 1, before + 12, watchFor([ours]));
      expect(blocks.flatMap(({ transfers }) => transfers)).toHaveLength(6);
    },
  );

  it("with more logs in one block than the node gives are read from its receipts", async () => {
    const ours = newAddress();
    for (let count = 0; count < 9; count++) await fund(ours, 1n, "USDC");
    const { number } = await mine();
    for (const node of ["main", "second"] as const)
      await devnet().control("devnet_setConditions", { node, conditions: { logsResultsMax: 5 } });
    const blocks = await openNode(devnet()).finalBlocks(number - 1, number, watchFor([ours]));
    expect(blocks.flatMap(({ transfers }) => transfers)).toHaveLength(9);
  });

  it("are complete or an error, also if a node ends a range early or answers some requests wrongly", async () => {
    const ours = newAddress();
    const before = (await devnet().control("devnet_status", {})).head.number;
    for (let count = 0; count < 8; count++) {
      await fund(ours, 1n, "USDC");
      await mine();
    }
    const node = openNode(devnet());
    const count = async () => {
      const blocks = await node.finalBlocks(before + 1, before + 8, watchFor([ours]));
      return blocks.flatMap(({ transfers }) => transfers).length;
    };
    await devnet().control("devnet_setConditions", { node: "main", conditions: { lagBlocks: 3 } });
    await expect(count()).rejects.toThrow("Two nodes must confirm");
    await devnet().control("devnet_setConditions", { node: "main", conditions: {} });
    const fault = { effect: { kind: "wrong", result: "0x" }, every: 20 } as const;
    await devnet().control("devnet_addFault", { node: "main", fault });
    const counts: number[] = [];
    for (let attempts = 0; counts.length < 2 && attempts < 50; attempts++)
      await count().then(
        (found) => counts.push(found),
        () => undefined,
      );
    expect(counts).toEqual([8, 8]);
  });
});
