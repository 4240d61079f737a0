import { useEffect, useState } from "react";
import { shownClientNames } from "../api/client-names";
import { useNamedPeople } from "../api/named-objects";
import { useNamedWallets, useWalletNames } from "../api/wallet-names";
import { useScopes } from "../session/use-me";
import { type Candidate, type Candidates, candidatesOf, type Named, onlyCandidate } from "./candidates";

export interface NamedFilter {
  /** Takes what was typed: an id, or a name of which the id is looked up. */
  choose: (typed: string) => void;
  /** A name that nothing has, or more than one, or a part of one, with those that are known by now. */
  unresolved: (Candidates & { typed: string; isWhole: boolean }) | undefined;
}

interface Known {
  read: () => readonly Named[];
  /** Whether all are known that this person may read: they can still load, or be too many. */
  isWhole: boolean;
}

const candidatesMax = 10;

/** The service filters by id, and people know names. If a name does not mean one for certain, the person chooses. */
function useNamedFilter(
  prefix: string,
  { read, isWhole }: Known,
  onChosen: (id: string) => void,
): NamedFilter {
  const [unresolved, setUnresolved] = useState<string>();
  const choose = (typed: string) => {
    setUnresolved(undefined);
    if (typed === "" || typed.startsWith(prefix)) return onChosen(typed);
    const only: Candidate | undefined = onlyCandidate(candidatesOf(typed, read()), isWhole);
    if (only !== undefined) return onChosen(only.id);
    setUnresolved(typed);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a name that was typed while the names were read is looked up once more then
  useEffect(() => {
    if (isWhole && unresolved !== undefined) choose(unresolved);
  }, [isWhole]);
  if (unresolved === undefined) return { choose, unresolved };
  const { found, isExact } = candidatesOf(unresolved, read());
  return {
    choose,
    unresolved: { typed: unresolved, found: found.slice(0, candidatesMax), isExact, isWhole },
  };
}

/** Those who manage people find all of them, up to 1000, by name and address, others those whom a page has shown. */
export function usePersonFilter(onChosen: (id: string) => void): NamedFilter {
  const people = useNamedPeople();
  const mayRead = useScopes().includes("clients:manage");
  const read = () => [
    ...(people?.named ?? []).map(({ id, names }) => ({ id, name: names[0], all: names.join("\n") })),
    ...[...shownClientNames()].map(([id, name]) => ({ id, name, all: name })),
  ];
  return useNamedFilter("cli_", { read, isWhole: !mayRead || people?.isWhole === true }, onChosen);
}

export function useWalletFilter(onChosen: (id: string) => void): NamedFilter {
  const names = useWalletNames() ?? new Map<string, string>();
  const read = () => [...names].map(([id, name]) => ({ id, name, all: name }));
  return useNamedFilter("wlt_", { read, isWhole: useNamedWallets().names !== undefined }, onChosen);
}
