import { recover } from "tiny-secp256k1";
import { keccak, toBytes, toHex } from "../keccak.js";
import { encodeRlp, type RlpItem } from "./encode-rlp.js";
import { encodeTransaction, type Signature } from "./encode-signed.js";
import { transferCall, word } from "./transfer-call.js";

/** What the signer was asked to sign. A cancellation sends 0 of the coin to the sender itself. */
export interface SignedIntent {
  /** CAIP-2, `eip155:1`. */
  network: string;
  address: string;
  nonce: number;
  contract: string | null;
  destination: string;
  amount: bigint;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** Bytes that are not what the signer was asked for. They must not be stored or sent. */
export class WrongSignatureError extends Error {}

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * Returns the hash of the signed bytes. They must be exactly the EIP-1559 transaction that the intent describes, on its chain, and signed
 * by its sender. The transaction is encoded here a second time, without code of the signer.
 */
export function verifySigned(intent: SignedIntent, bytes: string): string {
  const fields = fieldsOf(intent);
  const given = /^0x([0-9a-f]{2})+$/.test(bytes) ? toBytes(bytes) : new Uint8Array();
  const signature = readSignature(given, encodeRlp(fields).length);
  if (signature === undefined) throw new WrongSignatureError("the bytes are not a signed transaction");
  const { yParity, r, s } = signature;
  if (!encodeTransaction([...fields, yParity, r, s]).equals(given))
    throw new WrongSignatureError("the bytes are another transaction than the one to sign");
  const signer = recoverAddress(keccak(encodeTransaction(fields)), signature);
  if (signer !== intent.address)
    throw new WrongSignatureError(
      `the bytes are signed by ${signer ?? "nobody"} instead of ${intent.address}`,
    );
  return toHex(keccak(given));
}

function fieldsOf(intent: SignedIntent): readonly RlpItem[] {
  const { network, nonce, contract, destination, amount } = intent;
  const to = toBytes(contract ?? destination);
  const data = contract === null ? new Uint8Array() : toBytes(transferCall(destination, amount));
  const value = contract === null ? amount : 0n;
  const chainId = BigInt(network.slice("eip155:".length));
  const { maxPriorityFeePerGas: tip, maxFeePerGas, gasLimit } = intent;
  return [chainId, BigInt(nonce), tip, maxFeePerGas, gasLimit, to, value, data, []];
}

/**
 * The last three items of the list: a byte, and two numbers of up to 32 bytes. They begin after the other fields, whose length is known;
 * whether all of it is encoded as it must be is seen when it is encoded again.
 */
function readSignature(bytes: Uint8Array, unsignedListBytes: number): Signature | undefined {
  const contentBytes = unsignedListBytes - headerBytes(unsignedListBytes);
  const signedListBytes = bytes.length - 1;
  let at = 1 + headerBytes(signedListBytes) + contentBytes;
  const readItem = (): bigint => {
    const first = bytes[at] ?? 0x80;
    const length = first < 0x80 ? 1 : first - 0x80;
    const start = first < 0x80 ? at : at + 1;
    at = start + length;
    return length === 0 || length > 32 || at > bytes.length ? 0n : BigInt(toHex(bytes.subarray(start, at)));
  };
  const [yParity, r, s] = [readItem(), readItem(), readItem()] as const;
  // EIP-2: of the two values of s that fit a signature, only the lower one is valid.
  const isPossible = yParity <= 1n && r > 0n && r < order && s > 0n && s <= order / 2n;
  return isPossible && at === bytes.length ? { yParity, r, s } : undefined;
}

/** How long the header of a list is, from the length of all of it. */
function headerBytes(listBytes: number): number {
  if (listBytes <= 56) return 1;
  return listBytes <= 257 ? 2 : 3;
}

function recoverAddress(digest: Uint8Array, { yParity, r, s }: Signature): string | undefined {
  const signature = toBytes(`${word(r)}${word(s)}`);
  const key = recoverKey(digest, signature, yParity === 1n ? 1 : 0);
  return key === undefined ? undefined : toHex(keccak(key.subarray(1)).subarray(12));
}

/** The library throws if no point of the curve has this r. */
function recoverKey(digest: Uint8Array, signature: Uint8Array, yParity: 0 | 1): Uint8Array | undefined {
  try {
    return recover(digest, signature, yParity, false) ?? undefined;
  } catch {
    return undefined;
  }
}
