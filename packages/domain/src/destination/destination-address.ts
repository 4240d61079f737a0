/** A chain as CAIP-2 names it. Chain ids of EVM networks have one spelling, so that no chain is two networks. */
const chainPattern = /^(?:eip155:[1-9][0-9]{0,31}|(?!eip155:)[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})$/;
const evmAddressPattern = /^0x[0-9a-fA-F]{40}$/;
const otherAddressPattern = /^[\x21-\x7e]{1,128}$/;

export function isChainId(network: string): boolean {
  return chainPattern.test(network);
}

/**
 * The one form in which an address of a network is kept and compared; undefined where it cannot be one. On EVM networks case carries
 * no meaning but a checksum, which is not verified here. Elsewhere case can be part of the address, and its form is the network's own
 * affair.
 */
export function canonicalAddress(network: string, text: string): string | undefined {
  if (network.startsWith("eip155:")) return evmAddressPattern.test(text) ? text.toLowerCase() : undefined;
  return otherAddressPattern.test(text) ? text : undefined;
}
