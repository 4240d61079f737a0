import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The addresses that a webhook never goes to, from IANA's registries of special-purpose addresses, and the metadata
 * addresses of clouds, at which a machine reads its credentials. The first row that contains an address decides, so narrow rows come first.
 */
export const ipv4Ranges = [
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.100.100.200/32", "cloud metadata"],
  ["100.64.0.0/10", "carrier-grade NAT"],
  ["127.0.0.0/8", "loopback"],
  // Azure's host answers here, at a public address that leads nowhere else.
  ["168.63.129.16/32", "cloud metadata"],
  ["169.254.169.254/32", "cloud metadata"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.192/32", "cloud metadata"],
  ["192.0.0.0/24", "protocol assignment"],
  ["192.0.2.0/24", "documentation"],
  ["192.31.196.0/24", "AS112"],
  ["192.52.193.0/24", "multicast relay"],
  ["192.88.99.0/24", "6to4 relay"],
  ["192.168.0.0/16", "private"],
  ["192.175.48.0/24", "AS112"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
] as const;

/** Everything outside of 2000::/3 is refused as well: only that part is assigned to the public internet. */
export const ipv6Ranges = [
  ["::/128", "unspecified"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", "IPv4-mapped"],
  ["::ffff:0:0:0/96", "IPv4-translated"],
  ["::/96", "IPv4-compatible"],
  ["64:ff9b::/96", "NAT64"],
  ["64:ff9b:1::/48", "NAT64"],
  ["100::/64", "discard-only"],
  ["2001::/32", "Teredo"],
  ["2001:2::/48", "benchmarking"],
  ["2001:10::/28", "ORCHID"],
  ["2001:20::/28", "ORCHID"],
  ["2001:db8::/32", "documentation"],
  ["2001::/23", "protocol assignment"],
  ["2002::/16", "6to4"],
  ["2620:4f:8000::/48", "AS112"],
  ["3fff::/20", "documentation"],
  ["fd00:ec2::254/128", "cloud metadata"],
  ["fd20:ce::254/128", "cloud metadata"],
  ["fd00:c1::a9fe:a9fe/128", "cloud metadata"],
  ["fc00::/7", "unique local"],
  ["fe80::/10", "link-local"],
  ["fec0::/10", "site-local"],
  ["ff00::/8", "multicast"],
  ["2000::/3", "public"],
  ["::/0", "reserved"],
] as const;

export type AddressKind = "public" | (typeof ipv4Ranges)[number][1] | (typeof ipv6Ranges)[number][1];

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network: an address and how many of its leading bits count. */
type Network = [Address, number];

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
function kindOf(address: Address): AddressKind {
  const known = kinds.find(({ network }) => isWithin(address, network))?.kind ?? "public";
  return known === "public" && address.range() !== "unicast" ? "reserved" : known;
}

function isWithin(address: Address, [base, bits]: Network): boolean {
  if (address instanceof ipaddr.IPv4) return base instanceof ipaddr.IPv4 && address.match(base, bits);
  return base instanceof ipaddr.IPv6 && address.match(base, bits);
}

/** Reads only the usual notations: the library also reads `0x7f.1` and `017700000001`, which no resolver answers with. */
function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  // An address with a zone (fe80::1%eth0) has a meaning on one machine only.
  return isIPv6(text) && !text.includes("%") ? ipaddr.IPv6.parse(inHexadecimal(text)) : undefined;
}

/** The library takes `::127.0.0.1` for `::ffff:127.0.0.1`. The platform's parser, which also connects, writes dotted parts as hexadecimal. */
function inHexadecimal(ipv6: string): string {
  return ipv6.includes(".") ? new URL(`http://[${ipv6}]`).hostname.slice(1, -1) : ipv6;
}

/** A network in CIDR notation; an address by itself is a network of one. */
function parseNetwork(cidr: string): Network {
  const [, text = "", length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(cidr) ?? [];
  const address = parseAddress(text);
  if (address === undefined) throw new RangeError(`${cidr} is not a network`);
  const bitsMax = address.kind() === "ipv4" ? 32 : 128;
  const bits = length === undefined ? bitsMax : Number(length);
  if (bits > bitsMax) throw new RangeError(`${cidr} is not a network`);
  return [address, bits];
}

/** The first and the last address of a network. */
function endsOf([address, bits]: Network): [Address, Address] {
  const cidr = `${address.toString()}/${bits}`;
  const family = address.kind() === "ipv4" ? ipaddr.IPv4 : ipaddr.IPv6;
  return [family.networkAddressFromCIDR(cidr), family.broadcastAddressFromCIDR(cidr)];
}

/** Networks of the operator's own that webhooks may be sent to, besides the public internet. */
export interface PrivateNetworks {
  isEmpty: boolean;
  includes: (address: string) => boolean;
}

/**
 * The kinds that an operator can allow. Loopback, link-local and the metadata addresses of clouds are always refused: no receiver is
 * there, but services that trust any caller on the same machine or network.
 */
const allowableKinds: ReadonlySet<AddressKind | undefined> = new Set([
  "private",
  "unique local",
  "carrier-grade NAT",
]);

/** Reads a list in CIDR notation. Throws for a network that begins or ends outside of what can be allowed. */
export function readPrivateNetworks(list: readonly string[]): PrivateNetworks {
  const networks = list.map((cidr) => {
    const network = parseNetwork(cidr);
    if (!endsOf(network).every((end) => allowableKinds.has(kindOf(end))))
      throw new RangeError(`${cidr} is not a private network`);
    return network;
  });
  return {
    isEmpty: networks.length === 0,
    includes: (text) => {
      const address = parseAddress(text);
      if (address === undefined || !allowableKinds.has(judgeAddress(text))) return false;
      return networks.some((network) => isWithin(address, network));
    },
  };
}
