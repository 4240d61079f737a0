import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const namesMax = 1000;

/** The names of the tenant's wallets, for lists. An approver may lack the scope; ids are shown then. */
export function useWalletNames(): ReadonlyMap<string, string> | undefined {
  const isAllowed = useScopes().includes("wallets:read");
  return useQuery({
    queryKey: ["wallet-names"],
    enabled: isAllowed,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const names = new Map<string, string>();
      for await (const { id, name } of bursar.wallets.list({ limit: 200 }, { signal })) {
        names.set(id, name);
        if (names.size === namesMax) break;
      }
      return names;
    },
  }).data;
}
