/**
 * The network block that unauthenticated callers are counted by. An IPv4 address counts as it is; of an IPv6 address only the first 64
 * bits count, because a host usually has a whole /64 network. An IPv4-mapped address (`::ffff:192.0.2.1`) is an IPv4 address.
 */
export function addressBlock(written: string): string {
  const address = withoutPort(written);
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [before = "", after] = (address.split("%")[0] ?? "").split("::");
  const head = groupsOf(before);
  const tail = groupsOf(after ?? "");
  const zeros = after === undefined ? 0 : Math.max(0, groupsMax - head.length - tail.length);
  const groups = [...head, ...Array<string>(zeros).fill("0"), ...tail];
  return `${groups.slice(0, groupsOfBlock).join(":")}::/64`;
}

/** Some proxies append the client's port to its address, with IPv6 in brackets. */
function withoutPort(address: string): string {
  const [, v4, v6] = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]*)\](?::\d+)?)$/.exec(address) ?? [];
  return v4 ?? v6 ?? address;
}

const groupsMax = 8;
const groupsOfBlock = 4;

/** Without leading zeros and in lower case, so that every notation of an address has the same block. */
function groupsOf(text: string): string[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    // The last 32 bits may be written as an IPv4 address: two groups, which are never part of the block.
    if (group.includes(".")) return ["0", "0"];
    return [group.toLowerCase().replace(/^0+(?=.)/, "")];
  });
}
