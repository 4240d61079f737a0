import { keccak_256 } from "@noble/hashes/sha3.js";

export function keccak(bytes: Uint8Array): Uint8Array {
  return keccak_256(bytes);
}

export function toBytes(hex: string): Uint8Array {
  return Buffer.from(hex.startsWith("0x") ? hex.slice(2) : hex, "hex");
}

export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

/** A number as JSON-RPC writes it. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
