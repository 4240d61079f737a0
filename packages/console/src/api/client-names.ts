import type { ClientName } from "@bursar/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";
import { clientNameScopes } from "./client-name-scopes";
import { queries } from "./queries";

const key = "client-name";

const nameOf = (id: string) =>
  queryOptions({
    queryKey: [key, id],
    staleTime: 600_000,
    queryFn: ({ signal }) => bursar.clients.name(id, { signal }),
  });

/** What a client or person is called, which most roles see only by its id; undefined while it is not known, or if it must not be. */
export function useClientName(id: string | null): ClientName | undefined {
  const own = useScopes();
  const isAllowed = clientNameScopes.some((scope) => own.includes(scope));
  return useQuery({ ...nameOf(id ?? ""), enabled: id !== null && isAllowed }).data;
}

/** Those that a page has shown, by id. */
export function shownClientNames(): ReadonlyMap<string, string> {
  const shown = queries.getQueriesData<ClientName>({ queryKey: [key] });
  return new Map(shown.flatMap(([[, id], named]) => (named === undefined ? [] : [[String(id), named.name]])));
}

const readMax = 100;

/** The names of these, for a file. One that cannot be read, or is one too many, stays an id. */
export async function readClientNames(ids: Iterable<string | null>): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null).slice(0, readMax);
  const found = await Promise.allSettled(wanted.map((id) => queries.fetchQuery(nameOf(id))));
  return new Map(
    found.flatMap((one, index) =>
      one.status === "fulfilled" ? [[wanted[index] ?? "", one.value.name]] : [],
    ),
  );
}
