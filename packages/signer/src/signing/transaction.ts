import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Signature } from "../keys/secp256k1.js";
import { encodeRlp, type RlpItem } from "./rlp.js";

/** The fields of an EIP-1559 transaction. The access list is always empty. */
export interface UnsignedTransaction {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  readonly to: Uint8Array;
  readonly value: bigint;
  readonly data: Uint8Array;
}

const transactionType = 0x02;
/** The first four bytes of the hash of `transfer(address,uint256)`. */
const transferSelector = "a9059cbb";

/** What is signed: it determines the transaction completely, because the signature is deterministic. */
export function digestOf(transaction: UnsignedTransaction): Uint8Array {
  return keccak_256(encode(fieldsOf(transaction)));
}

export function attachSignature(
  transaction: UnsignedTransaction,
  { yParity, r, s }: Signature,
): { bytes: string; hash: string } {
  const bytes = encode([
    ...fieldsOf(transaction),
    BigInt(yParity),
    BigInt(`0x${Buffer.from(r).toString("hex")}`),
    BigInt(`0x${Buffer.from(s).toString("hex")}`),
  ]);
  return { bytes: toHex(bytes), hash: toHex(keccak_256(bytes)) };
}

/** The calldata of an ERC-20 transfer. */
export function encodeTransfer(destination: string, amount: bigint): Uint8Array {
  const address = destination.slice(2).padStart(64, "0");
  return new Uint8Array(
    Buffer.from(`${transferSelector}${address}${amount.toString(16).padStart(64, "0")}`, "hex"),
  );
}

function fieldsOf(transaction: UnsignedTransaction): readonly RlpItem[] {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data } = transaction;
  return [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, []];
}

function encode(fields: readonly RlpItem[]): Uint8Array {
  return new Uint8Array(Buffer.concat([Uint8Array.of(transactionType), encodeRlp(fields)]));
}

function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}
