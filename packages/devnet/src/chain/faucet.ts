import type { Abi } from "viem";
import { faucet } from "./accounts.js";
import type { ChainState } from "./chain-state.js";
import { contracts, readArtefact, type TokenName, tokens } from "./contracts.js";
import { toHex } from "./hex.js";
import { sendTransaction } from "./pool.js";

export interface FundRequest {
  readonly address: string;
  /** In base units: wei, or millionths of a token. */
  readonly amount: bigint;
  readonly asset: "ETH" | TokenName;
}

/** Sends coins or tokens from the faucet, as a transaction like any other. Returns its hash. */
export async function fund(state: ChainState, request: FundRequest): Promise<string> {
  const { privateKeyToAccount } = await import("viem/accounts");
  const call = await describeCall(request);
  const { edr, identity } = state;
  const block = (await edr.request("eth_getBlockByNumber", ["latest", false])) as { baseFeePerGas: string };
  const tip = 1_000_000_000n;
  const gas = (await edr.request("eth_estimateGas", [
    { from: faucet.address, to: call.to, value: toHex(call.value), data: call.data },
  ])) as string;
  const raw = await privateKeyToAccount(faucet.privateKey).signTransaction({
    chainId: identity.chainId,
    type: "eip1559",
    nonce: Number(await edr.request("eth_getTransactionCount", [faucet.address, "pending"])),
    gas: (BigInt(gas) * 6n) / 5n,
    maxFeePerGas: 4n * BigInt(block.baseFeePerGas) + tip,
    maxPriorityFeePerGas: tip,
    ...call,
  });
  return await sendTransaction(state, raw);
}

async function describeCall({ address, amount, asset }: FundRequest) {
  const to = address as `0x${string}`;
  if (asset === "ETH") return { to, value: amount, data: "0x" as const };
  const { encodeFunctionData } = await import("viem/utils");
  const { source, address: token } = contracts[asset];
  const abi = readArtefact(source).abi as Abi;
  const data = encodeFunctionData({ abi, functionName: tokens[asset], args: [to, amount] });
  return { to: token, value: 0n, data };
}
