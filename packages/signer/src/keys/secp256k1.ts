import { keccak_256 } from "@noble/hashes/sha3.js";
import { pointFromScalar, signRecoverable } from "tiny-secp256k1";

/**
 * The curve is libsecp256k1 of Bitcoin Core, compiled to WebAssembly; decision 0045 has the numbers. Signatures are deterministic
 * (RFC 6979) and have a low s, so a digest and a key have exactly one.
 */
export interface Signature {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly yParity: 0 | 1;
}

export function signDigest(digest: Uint8Array, privateKey: Uint8Array): Signature {
  const { signature, recoveryId } = signRecoverable(digest, privateKey);
  // 2 and 3 stand for an r above the order of the curve, which nobody has ever seen (1 in 2^127).
  if (recoveryId !== 0 && recoveryId !== 1) throw new Error("the signature cannot be expressed");
  return { r: signature.subarray(0, 32), s: signature.subarray(32), yParity: recoveryId };
}

/** The last 20 bytes of the hash of the public key, in lower case. */
export function addressOfKey(privateKey: Uint8Array): string {
  const point = pointFromScalar(privateKey, false);
  if (point === null) throw new Error("not a private key");
  return `0x${Buffer.from(keccak_256(point.subarray(1)).subarray(12)).toString("hex")}`;
}
