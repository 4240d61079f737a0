import { canonicalAddress, isChainId } from "@bursar/domain";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { Rails } from "../rails/rail.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Listed } from "../requests/listed.js";
import type { Refused } from "../requests/refused.js";

/** An entry of a tenant's allow-list of addresses. */
export interface Destination {
  tenantId: string;
  id: string;
  label: string;
  network: string;
  /** In its canonical form. */
  address: string;
  note: string | null;
  clientId: string;
  createdAt: Date;
  /** The entry takes effect at this time. */
  effectiveAt: Date;
}

export interface DestinationFilter {
  network?: string;
  /** Only with a network. The store has it in its canonical form. */
  address?: string;
  state?: "waiting" | "active";
}

export interface DestinationStore {
  /**
   * Adds the entry with its audit entry, or finds the one that an earlier request with the same key added, even if it has been removed
   * since. `taken`: the address is on the list already.
   */
  addDestination: (
    destination: Destination,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
  ) => Promise<{ added: Destination } | Earlier<Destination> | "taken">;
  readDestination: (tenantId: string, id: string) => Promise<Destination | undefined>;
  /** Newest first; `beforeId` is the last id of the previous page, and `now` separates waiting entries from active ones. */
  listDestinations: (
    tenantId: string,
    filter: DestinationFilter,
    now: Date,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<Destination>>;
  /** Removes the entry and writes the audit entry; false if there is no such entry. */
  removeDestination: (tenantId: string, id: string, audit: AuditDraft) => Promise<boolean>;
}

/** An address on a network, in its canonical form. */
export interface NetworkAddress {
  network: string;
  address: string;
}

/**
 * Reads an address of a request; `path` is its location there. A rail knows its own addresses; those of other chains are checked by
 * their form.
 */
export function readAddress(
  rails: Pick<Rails, "find">,
  { network, address }: NetworkAddress,
  path: string,
): NetworkAddress | Refused {
  const rail = rails.find(network);
  const hasAddresses = rail === undefined ? isChainId(network) : rail.readAddress !== undefined;
  if (!hasAddresses) {
    const reason = "must be the CAIP-2 id of a chain, such as eip155:1";
    return { refused: "NETWORK_UNKNOWN", details: [{ path: `${path}.network`, reason }] };
  }
  if (rail?.readAddress !== undefined) {
    const read = rail.readAddress(address);
    return "address" in read
      ? { network, address: read.address }
      : { refused: "ADDRESS_INVALID", details: [{ path: `${path}.address`, reason: read.fault }] };
  }
  const canonical = canonicalAddress(network, address);
  if (canonical === undefined) {
    const reason = "is not an address of this network";
    return { refused: "INVALID_REQUEST", details: [{ path: `${path}.address`, reason }] };
  }
  return { network, address: canonical };
}

/** What is no address of the network is on no list. */
export function withCanonicalAddress(filter: DestinationFilter): DestinationFilter {
  const { network, address } = filter;
  if (network === undefined || address === undefined) return filter;
  return { ...filter, address: canonicalAddress(network, address) ?? address };
}
