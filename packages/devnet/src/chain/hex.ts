/** A quantity of JSON-RPC: hexadecimal without leading zeros. */
export function toHex(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}

/** A value of 32 bytes, as storage slots hold it. */
export function toWord(value: bigint): string {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
