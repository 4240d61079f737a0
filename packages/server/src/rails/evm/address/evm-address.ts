import { keccak, toHex } from "../keccak.js";

/** An address as it is stored and compared, and as people read it, with the checksum of EIP-55 in its letters. */
export interface EvmAddress {
  address: string;
  shown: string;
}

const pattern = /^0x[0-9a-fA-F]{40}$/;

/** Undefined if it is no address. Letters of one case carry no checksum; in mixed case the checksum must be right. */
export function readEvmAddress(text: string): EvmAddress | undefined {
  if (!pattern.test(text)) return undefined;
  const address = text.toLowerCase();
  const shown = showAddress(address);
  const digits = text.slice(2);
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return hasChecksum && text !== shown ? undefined : { address, shown };
}

/** EIP-55: a letter is a capital if the same digit of the hash of the address is 8 or more. */
export function showAddress(address: string): string {
  const digits = address.slice(2);
  const hash = toHex(keccak(Buffer.from(digits, "ascii"))).slice(2);
  const cased = [...digits].map((digit, index) =>
    Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${cased.join("")}`;
}

/** The precompiled contracts of Ethereum and of the OP stack: 0x01 to 0x11, and P256VERIFY at 0x100. */
const precompileMax = 0x11n;
const p256Verify = 0x100n;

/** What an address is that nothing can be paid to; undefined if it can be paid. What is sent to most of these is lost. */
export function explainUnpayable(
  address: string,
  { source, tokens }: { source: string | null; tokens: readonly string[] },
): string | undefined {
  const number = BigInt(address);
  if (number === 0n) return "is the zero address";
  if (number <= precompileMax || number === p256Verify) return "is a precompiled contract";
  if (tokens.includes(address)) return "is the contract of a token";
  return address === source ? "is the address of the source wallet" : undefined;
}
