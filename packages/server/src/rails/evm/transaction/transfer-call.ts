/** The first four bytes of the hash of `transfer(address,uint256)`. */
const selector = "0xa9059cbb";

/** The data of a call that transfers a token. */
export function transferCall(destination: string, amount: bigint): string {
  return `${selector}${word(BigInt(destination))}${word(amount)}`;
}

/** A number in the 32 bytes that an argument of a call has. */
export function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
