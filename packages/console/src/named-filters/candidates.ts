export interface Candidate {
  id: string;
  name: string;
}

interface Candidates {
  found: readonly Candidate[];
  /** Whether they have exactly the name that was typed. */
  isExact: boolean;
}

/** Those with exactly this name, or else those whose name contains it. */
export function candidatesOf(typed: string, known: readonly (Candidate & { all: string })[]): Candidates {
  const wanted = typed.toLowerCase();
  const byId = [...new Map(known.map((one) => [one.id, one])).values()];
  const exact = byId.filter(({ name }) => name.toLowerCase() === wanted);
  const found = exact.length > 0 ? exact : byId.filter(({ all }) => all.toLowerCase().includes(wanted));
  return { found: found.map(({ id, name }) => ({ id, name })), isExact: exact.length > 0 };
}
