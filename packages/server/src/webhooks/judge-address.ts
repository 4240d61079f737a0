import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { type AddressKind, ipv4Ranges, ipv6Ranges } from "./address-ranges.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: an address and how many of its leading bits count. */
export type Network = [Address, number];

const kinds = [...ipv4Ranges, ...ipv6Ranges].map(([cidr, kind]) => ({ kind, network: parseNetwork(cidr) }));

/** What kind of address it is; undefined if it is not an address. */
export function judgeAddress(text: string): AddressKind | undefined {
  const address = parseAddress(text);
  return address && kindOf(address);
}

/**
 * Our own table decides, because it is stricter than the library's: it knows the metadata addresses of clouds and everything outside of
 * 2000::/3. The library's list is asked as well, so that a range it learns of in an update is refused here too.
 */
export function kindOf(address: Address): AddressKind {
  const known = kinds.find(({ network }) => isWithin(address, network))?.kind ?? "public";
  return known === "public" && address.range() !== "unicast" ? "reserved" : known;
}

export function isWithin(address: Address, [base, bits]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}

/** Only the usual notations: the library also reads `0x7f.1` and `017700000001`, which no resolver answers with. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  // An address with a zone (fe80::1%eth0) has a meaning on one machine only.
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(inHexadecimal(text)) : undefined;
}

/** The library takes `::127.0.0.1` for `::ffff:127.0.0.1`. The platform's parser, which also connects, writes dotted parts as hexadecimal. */
function inHexadecimal(ipv6: string): string {
  return ipv6.includes(".") ? new URL(`http://[${ipv6}]`).hostname.slice(1, -1) : ipv6;
}

/** A network in CIDR notation; an address by itself is a network of one. */
export function parseNetwork(cidr: string): Network {
  const [, text = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(cidr) ?? [];
  const address = parseAddress(text);
  if (address === undefined) throw new RangeError(`${cidr} is not a network`);
  const bitsMax = address.kind() === "ipv4" ? 32 : 128;
  const bits = length === undefined ? bitsMax : Number(length);
  if (bits > bitsMax) throw new RangeError(`${cidr} is not a network`);
  return [address, bits];
}

/** The first and the last address of a network. */
export function endsOf([address, bits]: Network): [Address, Address] {
  const cidr = `${address.toString()}/${bits}`;
  const family = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return [family.networkAddressFromCIDR(cidr), family.broadcastAddressFromCIDR(cidr)];
}
