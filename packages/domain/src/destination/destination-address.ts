/** A CAIP-2 chain id. EVM chain ids have a single notation, so that no chain is two networks. */
const chainPattern = /^(?:eip155:[1-9][0-9]{0,31}|(?!eip155:)[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})$/;
const evmAddressPattern = /^0x[0-9a-fA-F]{40}$/;
const otherAddressPattern = /^[\x21-\x7e]{1,128}$/;

export function isChainId(network: string): boolean {
  return chainPattern.test(network);
}

/**
 * The canonical form of an address; undefined if it is malformed. On EVM networks the case is only a checksum, which is not verified
 * here. On other networks the case can be significant, and only the character set and the length are checked.
 */
export function canonicalAddress(network: string, text: string): string | undefined {
  if (network.startsWith("eip155:")) return evmAddressPattern.test(text) ? text.toLowerCase() : undefined;
  return otherAddressPattern.test(text) ? text : undefined;
}
