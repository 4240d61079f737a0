import type { Transaction } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { isSameAddress } from "../../ui/values/address";
import { isSameListing, type Listing } from "./address-badges";

export interface ShownListing {
  /** Undefined while it is read, and if there is nothing to read or the person must not read it. */
  now: Listing | "unread" | undefined;
  /** Nothing was read yet. */
  isLoading: boolean;
  /** What the person has seen, if the list says something else by now. */
  before: Listing | undefined;
  /** The person has looked at what it says now. */
  accept: () => void;
  /** Reads it once more. Fails with a sentence if it is not what the person has seen. */
  expectSame: () => Promise<void>;
}

/**
 * What the allow-list says about the address that a payment goes to. The list changes without a new version of the payment, and an approver
 * must not sign beside what it said before: it is read again with each update of the page, when the page is looked at again, and before
 * signing.
 */
export function useListing({ destination, network, version }: Transaction, refreshMs: number | false) {
  const address = destination !== null && "address" in destination ? destination.address : undefined;
  const isAllowed = useScopes().includes("policies:read") && address !== undefined;
  const query = useQuery({
    queryKey: ["listed", network, address, version],
    enabled: isAllowed,
    staleTime: 0,
    // What the list said when the page was last open is not shown, not even for a moment.
    gcTime: 0,
    refetchOnWindowFocus: "always",
    refetchInterval: refreshMs,
    queryFn: async ({ signal }): Promise<Listing> => {
      if (address === undefined) return null;
      const { data: found } = await bursar.destinations.list({ network, address }, { signal }).page();
      return found.find((one) => isSameAddress(one.address, address)) ?? null;
    },
  });
  const { data, isError, isLoading, refetch } = query;
  const [seen, setSeen] = useState<Listing>();
  if (seen === undefined && data !== undefined) setSeen(data);
  const listing: ShownListing = {
    now: isError ? "unread" : data,
    isLoading: isLoading && seen === undefined,
    before:
      seen === undefined || data === undefined || isError || isSameListing(seen, data) ? undefined : seen,
    accept: () => setSeen(data),
    expectSame: async () => {
      if (!isAllowed) return;
      const { data: found } = await refetch({ throwOnError: true });
      // If it could not be read before, nobody has seen it.
      if (seen === undefined || found === undefined || !isSameListing(seen, found)) throw hasChanged;
    },
  };
  return listing;
}

const hasChanged = new Error(
  "Nothing was signed, because the allow-list has changed since you looked. Look again at the address.",
);
