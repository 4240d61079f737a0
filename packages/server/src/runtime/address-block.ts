import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * The block of addresses that unauthenticated callers are counted by. An IPv4 address is a block of its own; of an IPv6 address only the
 * first 64 bits count, because a caller that has one address of such a network has the other 2^64 - 1 as well. An IPv4 address that is
 * written as IPv6 (`::ffff:192.0.2.1`) is an IPv4 address.
 */
export function addressBlock(written: string): string {
  const address = readAddress(written);
  // Something else is counted as it is.
  if (address === undefined) return written;
  if (isIPv4(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const groups = parsed.parts.slice(0, groupsOfBlock).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

const groupsOfBlock = 4;

/** An address as a proxy may write it, without port, brackets and zone; undefined if it is none. */
export function readAddress(written: string): string | undefined {
  const [address = ""] = withoutPort(written).split("%");
  return isIP(address) === 0 ? undefined : address;
}

/** Some proxies append the client's port to its address, and IPv6 is then in brackets. */
function withoutPort(address: string): string {
  const [, v4, v6] = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(address) ?? [];
  return v4 ?? v6 ?? address;
}
