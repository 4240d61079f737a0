import { canonicalAddress, isChainId } from "@bursar/domain";
import type { Refused } from "../requests/refused.js";

/** Where money can go: an address in its canonical form, and the network that it is of. */
export interface NetworkAddress {
  network: string;
  address: string;
}

/** Reads an address of a request; `path` is where it stands there. Wallets of the book have no addresses. */
export function readAddress(
  networks: ReadonlySet<string>,
  { network, address }: NetworkAddress,
  path: string,
): NetworkAddress | Refused {
  const hasAddresses = isChainId(network) || (network !== "book" && networks.has(network));
  if (!hasAddresses) {
    const reason = "must be the CAIP-2 id of a chain, such as eip155:1";
    return { refused: "NETWORK_UNKNOWN", details: [{ path: `${path}.network`, reason }] };
  }
  const canonical = canonicalAddress(network, address);
  if (canonical === undefined) {
    const reason = "is not an address of this network";
    return { refused: "INVALID_REQUEST", details: [{ path: `${path}.address`, reason }] };
  }
  return { network, address: canonical };
}
