import type { Destination } from "@bursar/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import { queries } from "./queries";

export type ListedAddress = Pick<Destination, "label" | "network" | "address" | "state">;

const listedMax = 1000;

const listedAddresses = queryOptions({
  queryKey: ["destinations", "listed"],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    const listed: ListedAddress[] = [];
    for await (const destination of bursar.destinations.list({ limit: 200 }, { signal })) {
      if (listed.length === listedMax) return { listed, isCut: true };
      listed.push(destination);
    }
    return { listed, isCut: false };
  },
});

interface ListedAddresses {
  /**
   * All of them; none if this person must not read them. Undefined if they are not all known, because they load, could not be read or are
   * too many: a label that is there once can be that of another address too.
   */
  listed: readonly ListedAddress[] | undefined;
  isLoading: boolean;
  /** As they are now. */
  readAgain: () => Promise<readonly ListedAddress[] | undefined>;
}

/** The addresses that a person can choose by their label. */
export function useListedAddresses(): ListedAddresses {
  const isAllowed = useScopes().includes("policies:read");
  const { data, isLoading } = useQuery({ ...listedAddresses, enabled: isAllowed });
  return {
    listed: isAllowed ? data && complete(data) : [],
    isLoading,
    readAgain: async () =>
      isAllowed ? complete(await queries.fetchQuery({ ...listedAddresses, staleTime: 0 })) : [],
  };
}

function complete({
  listed,
  isCut,
}: {
  listed: ListedAddress[];
  isCut: boolean;
}): ListedAddress[] | undefined {
  return isCut ? undefined : listed;
}
