import type { ClientName } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import { clientNameScopes } from "./client-name-scopes";

/** What a client or person is called, which most roles see only by its id; undefined while it is not known, or if it must not be. */
export function useClientName(id: string | null): ClientName | undefined {
  const own = useScopes();
  return useQuery({
    queryKey: ["client-name", id],
    enabled: id !== null && clientNameScopes.some((scope) => own.includes(scope)),
    staleTime: 600_000,
    queryFn: ({ signal }) => bursar.clients.name(id ?? "", { signal }),
  }).data;
}
