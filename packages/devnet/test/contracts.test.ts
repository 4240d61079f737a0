import { type Abi, encodeFunctionData, getContractAddress, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { type ContractName, readArtefact, tokens } from "../src/chain/contracts.js";
import { contracts, deployer, faucet, type TokenName } from "../src/index.js";
import { fundedAccount, newAddress, readerOf, send, sign, useDevnet } from "./devnet-for-tests.js";

const devnet = useDevnet();
const tokenAbi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
  "function decimals() view returns (uint8)",
  "function symbol() view returns (string)",
]);
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const balanceOf = (token: TokenName, address: `0x${string}`) =>
  readerOf(devnet().url).readContract({
    abi: tokenAbi,
    address: contracts[token].address,
    functionName: "balanceOf",
    args: [address],
  });

/** Calls a function of a contract with an account of its own, and returns the receipt. */
async function call(name: ContractName, functionName: string, args: readonly unknown[], value = 0n) {
  const account = await fundedAccount(devnet());
  if (name in tokens) {
    const asset = name as TokenName;
    await devnet().control("devnet_fund", { address: account.address, amount: "1000", asset });
    await devnet().control("devnet_mine", {});
  }
  const { address, source } = contracts[name];
  const data = encodeFunctionData({ abi: readArtefact(source).abi as Abi, functionName, args });
  const hash = await send(
    devnet(),
    await sign(account, { nonce: 0, to: address, value, gas: 500_000n, data }),
  );
  await devnet().control("devnet_mine", {});
  return { account, receipt: await readerOf(devnet().url).getTransactionReceipt({ hash }) };
}

describe("the contracts", () => {
  it("have the documented addresses, on which their code is", async () => {
    const reader = readerOf(devnet().url);
    for (const [index, { address }] of Object.values(contracts).entries()) {
      expect(getContractAddress({ from: deployer.address, nonce: BigInt(index) })).toBe(address);
      expect((await reader.getCode({ address }))?.length).toBeGreaterThan(10);
    }
    expect(await reader.getBlockTransactionCount({ blockNumber: 1n })).toBe(Object.keys(contracts).length);
  });

  it.each(["USDC", "NORET", "FALSE", "FEE", "LOGONLY"] as const)(
    "%s has a symbol and decimals, and the faucet gives it",
    async (token) => {
      const reader = readerOf(devnet().url);
      const { address } = contracts[token];
      expect(await reader.readContract({ abi: tokenAbi, address, functionName: "symbol" })).toBe(token);
      expect(await reader.readContract({ abi: tokenAbi, address, functionName: "decimals" })).toBe(6);
      const to = newAddress();
      await devnet().control("devnet_fund", { address: to, amount: "42", asset: token });
      await devnet().control("devnet_mine", {});
      expect(await balanceOf(token, to)).toBe(42n);
    },
  );

  /** What 1000 units become: the return value of a call, what the log says, what leaves and what arrives. */
  it.each([
    [
      "USDC",
      "a token moves what its log says",
      { returns: true, logged: 1000n, left: 1000n, arrived: 1000n },
    ],
    ["NORET", "a token returns nothing", { returns: "nothing", logged: 1000n, left: 1000n, arrived: 1000n }],
    [
      "FALSE",
      "a token returns false and moves nothing",
      { returns: false, logged: undefined, left: 0n, arrived: 0n },
    ],
    ["FEE", "a token keeps a fee", { returns: true, logged: 1000n, left: 1000n, arrived: 990n }],
    ["LOGONLY", "a token logs and moves nothing", { returns: true, logged: 1000n, left: 0n, arrived: 0n }],
  ] as const)("%s: %s", async (token, _, expected) => {
    const to = newAddress();
    const { account, receipt } = await call(token, "transfer", [to, 1000n]);
    expect(receipt.status).toBe("success");
    const logs = receipt.logs.filter(({ topics }) => topics[0] === transferTopic);
    expect(logs.map(({ data }) => BigInt(data))).toEqual(
      expected.logged === undefined ? [] : [expected.logged],
    );
    expect(1000n - (await balanceOf(token, account.address))).toBe(expected.left);
    expect(await balanceOf(token, to)).toBe(expected.arrived);
    const data = encodeFunctionData({ abi: tokenAbi, functionName: "transfer", args: [to, 0n] });
    const returned = await devnet().request("eth_call", [
      { from: faucet.address, to: contracts[token].address, data },
    ]);
    expect(returned === "0x" ? "nothing" : BigInt(String(returned)) === 1n).toBe(expected.returns);
  });

  it("USDC fails a transfer of more than there is, and the fee is spent", async () => {
    const { receipt } = await call("USDC", "transfer", [newAddress(), 1001n]);
    expect(receipt).toMatchObject({ status: "reverted", logs: [] });
    expect(receipt.gasUsed).toBeGreaterThan(21_000n);
  });

  it("splitter sends coins that no transaction is addressed to, without a log", async () => {
    const [one, two] = [newAddress(), newAddress()];
    const { receipt } = await call("splitter", "split", [[one, two]], 1000n);
    expect(receipt).toMatchObject({ status: "success", logs: [] });
    const reader = readerOf(devnet().url);
    expect([await reader.getBalance({ address: one }), await reader.getBalance({ address: two })]).toEqual([
      500n,
      500n,
    ]);
    const trace = (await devnet().request("debug_traceTransaction", [
      receipt.transactionHash,
      { tracer: "callTracer" },
    ])) as { calls: { to: string; value: string }[] };
    expect(trace.calls.map(({ to, value }) => [to, Number(value)])).toEqual([
      [one.toLowerCase(), 500],
      [two.toLowerCase(), 500],
    ]);
  });

  it("bomb sends coins by selfdestruct, and can do so again", async () => {
    const to = newAddress();
    for (const expected of [777n, 1554n]) {
      const { receipt } = await call("bomb", "explode", [to], 777n);
      expect(receipt).toMatchObject({ status: "success", logs: [] });
      expect(await readerOf(devnet().url).getBalance({ address: to })).toBe(expected);
    }
  });

  it("receiver needs more gas than a plain transfer has", async () => {
    const account = await fundedAccount(devnet());
    const to = contracts.receiver.address;
    const reader = readerOf(devnet().url);
    const hash = await send(devnet(), await sign(account, { nonce: 0, to, gas: 21_000n }));
    await devnet().control("devnet_mine", {});
    expect((await reader.getTransactionReceipt({ hash })).status).toBe("reverted");
    const gas = await reader.estimateGas({ account: account.address, to, value: 1n });
    const enough = await send(devnet(), await sign(account, { nonce: 1, to, gas }));
    await devnet().control("devnet_mine", {});
    expect((await reader.getTransactionReceipt({ hash: enough })).status).toBe("success");
  });
});
