import { useState } from "react";
import { shownClientNames } from "../api/client-names";
import { usePeopleNames } from "../api/named-objects";
import { useWalletNames } from "../api/wallet-names";
import { type Candidate, candidatesOf } from "./candidates";

interface Unresolved {
  typed: string;
  isExact: boolean;
  candidates: readonly Candidate[];
}

export interface NamedFilter {
  /** Takes what was typed: an id, or a name of which the id is looked up. */
  choose: (typed: string) => void;
  /** A name that nothing has, or more than one, or a part of one. */
  unresolved: Unresolved | undefined;
}

const candidatesMax = 10;

/** The service filters by id, and people know names. Of several with the name, or if it is only a part of one, the person chooses. */
function useNamedFilter(
  prefix: string,
  readKnown: () => readonly (Candidate & { all: string })[],
  onChosen: (id: string) => void,
): NamedFilter {
  const [unresolved, setUnresolved] = useState<Unresolved>();
  const choose = (typed: string) => {
    setUnresolved(undefined);
    if (typed === "" || typed.startsWith(prefix)) return onChosen(typed);
    const { found, isExact } = candidatesOf(typed, readKnown());
    const [first] = found;
    // A part of a name may be meant for somebody who is not known here.
    if (first !== undefined && found.length === 1 && isExact) return onChosen(first.id);
    setUnresolved({ typed, isExact, candidates: found.slice(0, candidatesMax) });
  };
  return { choose, unresolved };
}

/** Those who manage people find all of them by name and address, others those whom a page has shown. */
export function usePersonFilter(onChosen: (id: string) => void): NamedFilter {
  const people = usePeopleNames() ?? [];
  const readKnown = () => [
    ...people.map(({ id, names }) => ({ id, name: names[0], all: names.join("\n") })),
    ...[...shownClientNames()].map(([id, name]) => ({ id, name, all: name })),
  ];
  return useNamedFilter("cli_", readKnown, onChosen);
}

export function useWalletFilter(onChosen: (id: string) => void): NamedFilter {
  const names = useWalletNames() ?? new Map<string, string>();
  return useNamedFilter("wlt_", () => [...names].map(([id, name]) => ({ id, name, all: name })), onChosen);
}
