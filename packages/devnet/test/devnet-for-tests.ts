import { createCustomCommon, Hardfork, Mainnet } from "@ethereumjs/common";
import { createTxFromRLP, type FeeMarket1559Tx } from "@ethereumjs/tx";
import { createPublicClient, defineChain, http, type PublicClient, parseGwei } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll } from "vitest";
import { type SpawnedDevnet, spawnDevnet } from "../src/index.js";

/** One chain for a file of tests, in a process of its own, mined by hand unless the options say otherwise. */
export function useDevnet(args: readonly string[] = ["--manual"]): () => SpawnedDevnet {
  let devnet: SpawnedDevnet | undefined;
  beforeAll(async () => {
    devnet = await spawnDevnet(args);
  });
  afterAll(async () => {
    await devnet?.stop();
  });
  return () => {
    if (devnet === undefined) throw new Error("the chain has not started");
    return devnet;
  };
}

const chain = defineChain({
  id: 31_337,
  name: "Devnet",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

export function readerOf(url: string): PublicClient {
  return createPublicClient({ chain, transport: http(url, { retryCount: 0 }), cacheTime: 0 });
}

/** A new account that has coins. */
export async function fundedAccount(devnet: SpawnedDevnet, wei = 10n ** 20n): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await devnet.control("devnet_fund", { address: account.address, amount: wei.toString(), asset: "ETH" });
  await devnet.control("devnet_mine", {});
  return account;
}

export function newAddress(): `0x${string}` {
  return privateKeyToAccount(generatePrivateKey()).address;
}

export interface Payment {
  readonly to?: `0x${string}`;
  readonly value?: bigint;
  readonly nonce: number;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly gas?: bigint;
  readonly data?: `0x${string}`;
  readonly chainId?: number;
}

/** A signed payment of one wei to a new address, unless it says otherwise. */
export function sign(account: PrivateKeyAccount, payment: Payment): Promise<`0x${string}`> {
  return account.signTransaction({
    type: "eip1559",
    chainId: 31_337,
    to: newAddress(),
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: parseGwei("100"),
    maxPriorityFeePerGas: parseGwei("1"),
    ...payment,
  });
}

export async function send(devnet: SpawnedDevnet, raw: string): Promise<`0x${string}`> {
  return (await devnet.request("eth_sendRawTransaction", [raw])) as `0x${string}`;
}

/** A signed transaction as another library reads it: nothing here has the same author as the code that signed it. */
export function decode(raw: string, chainId = 31_337) {
  const common = createCustomCommon({ chainId }, Mainnet, { hardfork: Hardfork.Prague });
  const transaction = createTxFromRLP(Buffer.from(raw.slice(2), "hex"), { common }) as FeeMarket1559Tx;
  return {
    hash: `0x${Buffer.from(transaction.hash()).toString("hex")}`,
    from: transaction.getSenderAddress().toString(),
    to: transaction.to?.toString(),
    value: transaction.value,
    nonce: Number(transaction.nonce),
    chainId: Number(transaction.chainId),
    maxFeePerGas: transaction.maxFeePerGas,
    isValid: transaction.verifySignature(),
  };
}

/** The hash of the newest block that a node has. */
export async function headHash(devnet: SpawnedDevnet): Promise<string> {
  return (await devnet.control("devnet_status", {})).head.hash;
}
