import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const namedMax = 1000;

/** Something that a person finds by a part of one of its names. */
interface Named {
  id: string;
  /** The first is shown as its name. */
  names: readonly [string, ...string[]];
}

interface NamedList {
  named: readonly Named[];
  /** Whether there are no others. */
  isWhole: boolean;
}

/** The people of the tenant by name and address, for those who manage them. */
export function useNamedPeople(): NamedList | undefined {
  return useNamed("people", "clients:manage", (signal) => bursar.people.list({ limit: 200 }, { signal }), {
    namesOf: ({ name, email }) => [name, email],
  });
}

export function usePeopleNames(): readonly Named[] | undefined {
  return useNamedPeople()?.named;
}

/** The destinations that can be paid, by label and address. */
export function useDestinationNames(): readonly Named[] | undefined {
  return useNamed(
    "destinations",
    "policies:read",
    (signal) => bursar.destinations.list({ limit: 200 }, { signal }),
    { namesOf: ({ label, address }) => [label, address] },
  )?.named;
}

/** The webhook endpoints, by URL and description. A tenant has at most 500. */
export function useEndpointNames(): readonly Named[] | undefined {
  return useNamed(
    "webhook-endpoints",
    "webhooks:manage",
    (signal) => bursar.webhookEndpoints.list({ limit: 200 }, { signal }),
    { namesOf: ({ url, description }) => [url, ...(description === null ? [] : [description])] },
  )?.named;
}

function useNamed<Row extends { id: string }>(
  kind: string,
  scope: string,
  list: (signal: AbortSignal) => AsyncIterable<Row>,
  { namesOf }: { namesOf: (row: Row) => Named["names"] },
): NamedList | undefined {
  return useQuery({
    queryKey: ["names", kind],
    enabled: useScopes().includes(scope),
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const named: Named[] = [];
      for await (const row of list(signal)) {
        if (named.length === namedMax) return { named, isWhole: false };
        named.push({ id: row.id, names: namesOf(row) });
      }
      return { named, isWhole: true };
    },
  }).data;
}
