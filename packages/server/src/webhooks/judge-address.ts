import { isIPv4, isIPv6 } from "node:net";
import { type AddressKind, ipv4Ranges, ipv6Ranges } from "./address-ranges.js";

/** An address as a number of so many bits. */
export interface Address {
  value: bigint;
  bits: 32 | 128;
}

/** From the first to the last address of a network. */
export interface AddressRange {
  first: Address;
  last: Address;
}

const kinds = [...ipv4Ranges, ...ipv6Ranges].map(([network, kind]) => ({ kind, range: rangeOf(network) }));

/** What kind of address it is; undefined for what is no address. */
export function judgeAddress(text: string): AddressKind | undefined {
  const address = parseAddress(text);
  return address && kindOf(address);
}

export function kindOf(address: Address): AddressKind {
  return kinds.find(({ range }) => isWithin(address, range))?.kind ?? "public";
}

export function isWithin({ value, bits }: Address, { first, last }: AddressRange): boolean {
  return bits === first.bits && value >= first.value && value <= last.value;
}

export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { value: ipv4Value(text), bits: 32 };
  // An address with a zone (fe80::1%eth0) has a meaning on one machine only.
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return { value: ipv6Value(text), bits: 128 };
}

/** The range of a network in CIDR notation; an address by itself is a network of one. */
export function rangeOf(network: string): AddressRange {
  const [text = "", length] = network.split("/");
  const address = parseAddress(text);
  if (address === undefined) throw new RangeError(`${network} is no network`);
  const { value, bits } = address;
  const hosts = (1n << BigInt(bits - Number(length ?? bits))) - 1n;
  return { first: { value: value & ~hosts, bits }, last: { value: value | hosts, bits } };
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
