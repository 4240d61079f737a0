import { useQuery } from "@tanstack/react-query";
import { useScopes } from "../session/use-me";
import { bursar } from "./bursar";

const peopleMax = 1000;

interface NamedPerson {
  id: string;
  name: string;
  email: string;
}

/** The people of the tenant by name and address, for those who manage them. */
export function usePeopleNames(): readonly NamedPerson[] | undefined {
  return useQuery({
    queryKey: ["people-names"],
    enabled: useScopes().includes("clients:manage"),
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const people: NamedPerson[] = [];
      for await (const { id, name, email } of bursar.people.list({ limit: 200 }, { signal })) {
        if (people.length === peopleMax) break;
        people.push({ id, name, email });
      }
      return people;
    },
  }).data;
}
