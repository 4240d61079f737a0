import { contracts, type SpawnedDevnet, spawnDevnet } from "@bursar/devnet";
import { encodeFunctionData, parseAbi, parseGwei } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll } from "vitest";
import type { Watch } from "../../../src/app/chain/chain-node.js";
import {
  createEvmNode,
  type EvmNode,
  type EvmNodeDeps,
  type EvmNodeSettings,
} from "../../../src/rails/evm/node/evm-node.js";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";

/** A development chain for a file of tests, mined by hand unless the options say otherwise. */
export function useDevnet(args: readonly string[] = []): () => SpawnedDevnet {
  let devnet: SpawnedDevnet | undefined;
  beforeAll(async () => {
    devnet = await spawnDevnet(["--manual", "--safe-depth", "1", "--final-depth", "3", ...args]);
  });
  afterAll(async () => {
    await devnet?.stop();
  });
  return () => {
    if (devnet === undefined) throw new Error("the chain has not started");
    return devnet;
  };
}

const tokenNames = ["USDC", "NORET", "FALSE", "FEE", "LOGONLY"] as const;

export const devnetTokens = tokenNames.map((asset) => ({
  asset,
  contract: contracts[asset].address.toLowerCase(),
  decimals: 6,
}));

const opened: EvmNode[] = [];

/** The nodes of a development chain as the service sees them; closed after the file. */
export function openNode(
  devnet: SpawnedDevnet,
  settings: Partial<EvmNodeSettings> = {},
  deps: Partial<EvmNodeDeps> = {},
): EvmNode {
  const node = createEvmNode({
    network: {
      network: "eip155:31337",
      chainId: 31_337,
      rpcUrls: [devnet.url, devnet.secondUrl],
      finality: { tag: "finalized" },
      feeCap: parseGwei("500"),
      minimumTip: parseGwei("1"),
      tipMax: parseGwei("20"),
      hasDataFee: false,
      hasPool: true,
      tokens: devnetTokens,
      ...settings,
    },
    timers: nodeTimers,
    monotonicMs: () => performance.now(),
    random: Math.random,
    timeoutMs: 5000,
    ...deps,
  });
  opened.push(node);
  return node;
}

export async function closeNodes(): Promise<void> {
  await Promise.all(opened.splice(0).map((node) => node.close()));
}

/** Looks for these addresses and hashes, and counts the lookups. */
export function watchFor(
  addresses: readonly string[],
  hashes: readonly string[] = [],
): Watch & { lookups: number } {
  const find = (known: readonly string[]) => {
    const set = new Set(known.map((key) => key.toLowerCase()));
    return async (keys: readonly string[]) => {
      watch.lookups += 1;
      return new Set(keys.filter((key) => set.has(key)));
    };
  };
  const watch = {
    tokens: [{ asset: "ETH", contract: null }, ...devnetTokens],
    findOwned: find(addresses),
    findAttempts: find(hashes),
    lookups: 0,
  };
  return watch;
}

export function newAddress(): `0x${string}` {
  return newAccount().address.toLowerCase() as `0x${string}`;
}

function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

/** An account with coins, and as much of each asset as is asked for, in a block. */
export async function fundedAccount(
  devnet: SpawnedDevnet,
  amounts: Partial<Record<(typeof tokenNames)[number], bigint>> = {},
): Promise<PrivateKeyAccount> {
  const account = newAccount();
  const address = account.address;
  await devnet.control("devnet_fund", { address, amount: (10n ** 19n).toString(), asset: "ETH" });
  for (const asset of tokenNames) {
    const amount = amounts[asset];
    if (amount !== undefined)
      await devnet.control("devnet_fund", { address, amount: amount.toString(), asset });
  }
  await devnet.control("devnet_mine", {});
  return account;
}

export interface TestPayment {
  to: string;
  value?: bigint;
  nonce: number;
  data?: `0x${string}`;
  gas?: bigint;
  maxFeePerGas?: bigint;
  maxPriorityFeePerGas?: bigint;
  chainId?: number;
}

/** A signed transaction, by another library than the service's. */
export function signPayment(account: PrivateKeyAccount, payment: TestPayment): Promise<`0x${string}`> {
  return account.signTransaction({
    type: "eip1559",
    chainId: 31_337,
    gas: 200_000n,
    maxFeePerGas: parseGwei("100"),
    maxPriorityFeePerGas: parseGwei("1"),
    ...payment,
    to: payment.to as `0x${string}`,
  });
}

const abi = parseAbi([
  "function transfer(address to, uint256 value)",
  "function approve(address spender, uint256 value)",
  "function split(address[] to) payable",
  "function splitToken(address token, address[] to, uint256 part)",
]);

/** The data of a call of one of the contracts. */
export function encodeCall(
  functionName: "transfer" | "approve" | "split" | "splitToken",
  args: readonly unknown[],
): `0x${string}` {
  return encodeFunctionData({ abi, functionName, args } as never);
}

/** Sends a transaction to the pool, and returns its hash. */
export async function sendRaw(devnet: SpawnedDevnet, raw: string): Promise<string> {
  return (await devnet.request("eth_sendRawTransaction", [raw])) as string;
}
