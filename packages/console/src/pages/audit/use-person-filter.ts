import { useState } from "react";
import { shownClientNames } from "../../api/client-names";
import { usePeopleNames } from "../../api/named-objects";
import { type Candidate, candidatesOf } from "./candidates";

interface Unresolved {
  typed: string;
  candidates: readonly Candidate[];
}

const candidatesMax = 10;

/**
 * The service filters by id, and people know names. Those who manage people find all of them by name and address, others those whom a page
 * has shown. Of several with the name, the person chooses.
 */
export function usePersonFilter(onChosen: (id: string) => void) {
  const people = usePeopleNames() ?? [];
  const [unresolved, setUnresolved] = useState<Unresolved>();
  const choose = (typed: string) => {
    setUnresolved(undefined);
    if (typed === "" || typed.startsWith("cli_")) return onChosen(typed);
    const known = people.map(({ id, names }) => ({ id, name: names[0], all: names.join("\n") }));
    const shown = [...shownClientNames()].map(([id, name]) => ({ id, name, all: name }));
    const candidates = candidatesOf(typed, [...known, ...shown]);
    const [first] = candidates;
    if (first !== undefined && candidates.length === 1) return onChosen(first.id);
    setUnresolved({ typed, candidates: candidates.slice(0, candidatesMax) });
  };
  return { choose, unresolved };
}
