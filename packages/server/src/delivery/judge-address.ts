import { isIPv4, isIPv6 } from "node:net";
import { type AddressKind, ipv4Ranges, ipv6Ranges } from "./address-ranges.js";

interface Range {
  kind: AddressKind;
  start: bigint;
  end: bigint;
}

const ipv4 = ipv4Ranges.map(([network, kind]) => rangeOf(network, kind, 32));
const ipv6 = ipv6Ranges.map(([network, kind]) => rangeOf(network, kind, 128));

/** What kind of address it is; undefined for what is no address. Only `public` ones may be connected to. */
export function judgeAddress(address: string): AddressKind | undefined {
  if (isIPv4(address)) return findKind(ipv4, ipv4Value(address)) ?? "public";
  // An address with a zone (fe80::1%eth0) has a meaning on one machine only.
  if (!isIPv6(address) || address.includes("%")) return undefined;
  return findKind(ipv6, ipv6Value(address));
}

function findKind(ranges: readonly Range[], value: bigint): AddressKind | undefined {
  return ranges.find(({ start, end }) => value >= start && value <= end)?.kind;
}

function rangeOf(network: string, kind: AddressKind, bits: number): Range {
  const [address = "", length = ""] = network.split("/");
  const hostBits = BigInt(bits - Number(length));
  const start = bits === 32 ? ipv4Value(address) : ipv6Value(address);
  return { kind, start, end: start + (1n << hostBits) - 1n };
}

function ipv4Value(address: string): bigint {
  return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6Value(address: string): bigint {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const zeros = new Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) | group, 0n);
}

/** The 16-bit groups of one side of an address; the last 32 bits may be written as IPv4. */
function groupsOf(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const value = ipv4Value(group);
    return [value >> 16n, value & 0xffffn];
  });
}
