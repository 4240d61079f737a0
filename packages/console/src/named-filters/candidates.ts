export interface Candidate {
  id: string;
  name: string;
}

/** Something with all that it is known by. */
export type Named = Candidate & { all: string };

export interface Candidates {
  found: readonly Candidate[];
  /** Whether they have exactly the name that was typed. */
  isExact: boolean;
}

/** Those with exactly this name, or else those whose name contains it. */
export function candidatesOf(typed: string, known: readonly Named[]): Candidates {
  const wanted = typed.toLowerCase();
  const byId = [...new Map(known.map((one) => [one.id, one])).values()];
  const exact = byId.filter(({ name }) => name.toLowerCase() === wanted);
  const found = exact.length > 0 ? exact : byId.filter(({ all }) => all.toLowerCase().includes(wanted));
  return { found: found.map(({ id, name }) => ({ id, name })), isExact: exact.length > 0 };
}

/** The one that a name means for certain: it has exactly this name, and no other does, here or among those that are not known here. */
export function onlyCandidate({ found, isExact }: Candidates, isWhole: boolean): Candidate | undefined {
  return isExact && isWhole && found.length === 1 ? found[0] : undefined;
}
