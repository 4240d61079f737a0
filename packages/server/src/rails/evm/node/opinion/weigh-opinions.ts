/** What several nodes say about the same thing. */
export interface Opinion<T> {
  readonly value: T;
  /** The nodes that say so, in the order of the configuration. */
  readonly names: readonly string[];
}

/**
 * `agreed`: the larger group decides, and the others are wrong. `disputed`: nodes contradict each other, and nothing says which of them is wrong.
 * `unsure`: nobody contradicts, but too few have said it.
 */
export type Verdict<T> =
  | { readonly kind: "agreed"; readonly value: T; readonly others: readonly string[] }
  | { readonly kind: "disputed"; readonly between: readonly [Opinion<T>, Opinion<T>] }
  | { readonly kind: "unsure"; readonly opinion: Opinion<T> | undefined };

/** How many nodes must say the same: more than half of those that answer, and at least two, unless only one is configured. */
export function requiredOpinions(answeredCount: number, nodeCount: number): number {
  return Math.max(Math.min(2, nodeCount), Math.floor(answeredCount / 2) + 1);
}

/**
 * What the larger group of nodes says. `answeredCount`: of how many nodes that answer, if some of them have nothing to say about it.
 */
export function weighOpinions<T>(
  opinions: readonly Opinion<T>[],
  nodeCount: number,
  answeredCount = opinions.reduce((count, { names }) => count + names.length, 0),
): Verdict<T> {
  const [first, second, ...rest] = opinions.toSorted((one, other) => other.names.length - one.names.length);
  if (first !== undefined && first.names.length >= requiredOpinions(answeredCount, nodeCount)) {
    const others = [second, ...rest].flatMap((opinion) => opinion?.names ?? []);
    return { kind: "agreed", value: first.value, others };
  }
  if (first !== undefined && second !== undefined) return { kind: "disputed", between: [first, second] };
  return { kind: "unsure", opinion: first };
}

/** The nodes that say the same, by what they say. */
export function groupOpinions<T>(
  said: readonly { readonly name: string; readonly value: T }[],
  keyOf: (value: T) => unknown,
): readonly Opinion<T>[] {
  const groups = new Map<unknown, { value: T; names: string[] }>();
  for (const { name, value } of said) {
    const group = groups.get(keyOf(value)) ?? { value, names: [] };
    group.names.push(name);
    groups.set(keyOf(value), group);
  }
  return [...groups.values()];
}
