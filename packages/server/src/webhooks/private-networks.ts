import type { AddressKind } from "./address-ranges.js";
import { type Address, isWithin, kindOf, parseAddress, rangeOf } from "./judge-address.js";

/** Networks of the operator's own that webhooks may go to, beside the public internet. */
export interface PrivateNetworks {
  isEmpty: boolean;
  includes: (address: string) => boolean;
}

/**
 * What an operator can open. Loopback, link-local and the addresses at which clouds tell secrets stay closed whatever is said: no
 * receiver lives there, and much that trusts its neighbours does.
 */
const openableKinds: ReadonlySet<AddressKind> = new Set(["private", "unique local", "carrier-grade NAT"]);

/** From a list in CIDR notation. Throws at a network that begins or ends outside of what can be opened. */
export function readPrivateNetworks(list: readonly string[]): PrivateNetworks {
  const ranges = list.map((network) => {
    const range = rangeOf(network);
    if (!isOpenable(range.first) || !isOpenable(range.last))
      throw new RangeError(`${network} is no private network`);
    return range;
  });
  return {
    isEmpty: ranges.length === 0,
    includes: (text) => {
      const address = parseAddress(text);
      if (address === undefined || !isOpenable(address)) return false;
      return ranges.some((range) => isWithin(address, range));
    },
  };
}

function isOpenable(address: Address): boolean {
  return openableKinds.has(kindOf(address));
}
