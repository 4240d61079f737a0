import { queryOptions, useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import { queries } from "./queries";

export type WalletNames = ReadonlyMap<string, string>;

const namesMax = 1000;

const walletNames = queryOptions({
  queryKey: ["wallet-names"],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    const names = new Map<string, string>();
    for await (const { id, name } of bursar.wallets.list({ limit: 200 }, { signal })) {
      if (names.size === namesMax) return { names, isCut: true };
      names.set(id, name);
    }
    return { names, isCut: false };
  },
});

function useWalletList() {
  const isAllowed = useScopes().includes("wallets:read");
  return { isAllowed, query: useQuery({ ...walletNames, enabled: isAllowed }) };
}

/** The names of the tenant's wallets, for lists. An approver may lack the scope; ids are shown then. */
export function useWalletNames(): WalletNames | undefined {
  return useWalletList().query.data?.names;
}

interface NamedWallets {
  /** By id. None if the tenant has more than were read: a name that is there once can be that of another wallet too. */
  names: WalletNames | undefined;
  isLoading: boolean;
  /** The names as they are now; undefined if this person must not read them. */
  readAgain: () => Promise<WalletNames | undefined>;
}

/** The wallets that a person can choose by their name. */
export function useNamedWallets(): NamedWallets {
  const { isAllowed, query } = useWalletList();
  const { data } = query;
  return {
    names: data && completeNames(data),
    isLoading: query.isLoading,
    readAgain: async () =>
      isAllowed ? completeNames(await queries.fetchQuery({ ...walletNames, staleTime: 0 })) : undefined,
  };
}

function completeNames({ names, isCut }: { names: WalletNames; isCut: boolean }): WalletNames {
  return isCut ? new Map() : names;
}
