import type { AddressKind } from "./address-ranges.js";
import { endsOf, isWithin, judgeAddress, kindOf, parseAddress, parseNetwork } from "./judge-address.js";

/** Networks of the operator's own that webhooks may be sent to, besides the public internet. */
export interface PrivateNetworks {
  isEmpty: boolean;
  includes: (address: string) => boolean;
}

/**
 * What an operator can open. Loopback, link-local and the metadata addresses of clouds stay closed in any case: no receiver is there, but
 * much that trusts its neighbours.
 */
const openableKinds: ReadonlySet<AddressKind | undefined> = new Set([
  "private",
  "unique local",
  "carrier-grade NAT",
]);

/** Reads a list in CIDR notation. Throws for a network that begins or ends outside of what can be opened. */
export function readPrivateNetworks(list: readonly string[]): PrivateNetworks {
  const networks = list.map((cidr) => {
    const network = parseNetwork(cidr);
    if (!endsOf(network).every((end) => openableKinds.has(kindOf(end))))
      throw new RangeError(`${cidr} is not a private network`);
    return network;
  });
  return {
    isEmpty: networks.length === 0,
    includes: (text) => {
      const address = parseAddress(text);
      if (address === undefined || !openableKinds.has(judgeAddress(text))) return false;
      return networks.some((network) => isWithin(address, network));
    },
  };
}
