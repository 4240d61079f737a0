import { keccak, toBytes, toHex } from "../keccak.js";
import { encodeRlp, type RlpItem } from "./encode-rlp.js";

export interface Signature {
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** A signed EIP-1559 transaction without an access list, as nodes show it. */
interface SignedTransaction extends Signature {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

export function encodeTransaction(fields: readonly RlpItem[]): Buffer {
  return Buffer.concat([Uint8Array.of(0x02), encodeRlp(fields)]);
}

/** The bytes that were sent. */
export function encodeSigned(transaction: SignedTransaction): string {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data } = transaction;
  const { yParity, r, s } = transaction;
  const terms = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit];
  return toHex(encodeTransaction([...terms, toBytes(to), value, toBytes(data), [], yParity, r, s]));
}

export function hashOfSigned(bytes: string): string {
  return toHex(keccak(toBytes(bytes)));
}
