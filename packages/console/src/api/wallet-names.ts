import type { Wallet } from "@bursar/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import { queries } from "./queries";
import { unclearNames } from "./unclear-names";

export type WalletNames = ReadonlyMap<string, string>;

/** A wallet as a list shows it. */
interface NamedWallet {
  name: string;
  /** Whether the name does not say which wallet it is, so that the end of the id stands beside it. */
  needsId: boolean;
}

const namesMax = 1000;

const walletNames = queryOptions({
  queryKey: ["wallet-names"],
  staleTime: 60_000,
  queryFn: async ({ signal }) => {
    const names = new Map<string, string>();
    const byRole = new Map<Wallet["role"], string>();
    for await (const { id, name, role } of bursar.wallets.list({ limit: 200 }, { signal })) {
      if (names.size === namesMax) return { names, byRole, unclear: unclearNames(names), isCut: true };
      names.set(id, name);
      if (role !== null) byRole.set(role, id);
    }
    return { names, byRole, unclear: unclearNames(names), isCut: false };
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

/** A wallet by its id; undefined if its name is not known. */
export function useNamedWallet(id: string): NamedWallet | undefined {
  const { data } = useWalletList().query;
  const name = data?.names.get(id);
  // If they are not all known, another one can have the name too.
  return name === undefined
    ? undefined
    : { name, needsId: data?.isCut === true || data?.unclear.has(id) === true };
}

const walletQuery = (id: string) =>
  queryOptions({
    queryKey: ["wallet", id],
    queryFn: ({ signal }) => bursar.wallets.get(id, { signal }),
  });

/** A frozen wallet may be the work of somebody else, just now. */
const refetchInterval = 10_000;

/** A wallet as it is now; undefined until it is known, and if there is no id. It is read again when it is shown, also if it was just read. */
export function useWallet(id: string | undefined): Wallet | undefined {
  return useWalletQuery(id).data;
}

export function useWalletQuery(id: string | undefined) {
  return useQuery({ ...walletQuery(id ?? ""), enabled: id !== undefined, staleTime: 0, refetchInterval });
}

/** The wallet that pays or receives if nothing else is chosen; undefined if it is not known. */
export function useDefaultWallet(role: "primary" | "settlement"): Wallet | undefined {
  return useWallet(useWalletList().query.data?.byRole.get(role));
}

interface NamedWallets {
  /**
   * All of them by id; none if this person must not read them. Undefined if they are not all known, because they load, could not be read or
   * are too many: a name that is there once can be that of another wallet too.
   */
  names: WalletNames | undefined;
  /** The wallets that are meant if none is named. */
  defaults: { primary: string | undefined; settlement: string | undefined };
  isLoading: boolean;
  /** The names as they are now. */
  readAgain: () => Promise<WalletNames | undefined>;
}

/** The wallets that a person can choose by their name. */
export function useNamedWallets(): NamedWallets {
  const { isAllowed, query } = useWalletList();
  const { data } = query;
  return {
    names: isAllowed ? data && completeNames(data) : new Map(),
    defaults: { primary: data?.byRole.get("primary"), settlement: data?.byRole.get("settlement") },
    isLoading: query.isLoading,
    readAgain: async () =>
      isAllowed ? completeNames(await queries.fetchQuery({ ...walletNames, staleTime: 0 })) : new Map(),
  };
}

function completeNames({ names, isCut }: { names: WalletNames; isCut: boolean }): WalletNames | undefined {
  return isCut ? undefined : names;
}
