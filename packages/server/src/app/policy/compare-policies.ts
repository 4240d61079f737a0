import { setImmediate as nextTurn } from "node:timers/promises";
import { type CompiledPolicy, comparePoliciesInSlices } from "@bursar/domain";

/**
 * Compares policies, and remembers the result for as long as both are kept in memory: a change is planned when it is requested, when it is
 * prepared, and once more in the SQL transaction that applies it.
 */
export interface PolicyComparer {
  /** Whether a new policy cannot be proven to be as strict as the old one. */
  loosens: (before: CompiledPolicy, after: CompiledPolicy) => Promise<boolean>;
  /** The same for addresses off the allow-list only, and regardless of who must approve changes. */
  opens: (before: CompiledPolicy, after: CompiledPolicy) => Promise<boolean>;
}

const sliceMs = 2;
const unlisted = { destinations: new Set(["address"] as const) };

export function createPolicyComparer(): PolicyComparer {
  return {
    loosens: remember((before, after) => compareInSlices(before, after)),
    opens: remember((before, after) =>
      compareInSlices({ ...before, changes: null }, { ...after, changes: null }, unlisted),
    ),
  };
}

type Comparison = (before: CompiledPolicy, after: CompiledPolicy) => Promise<boolean>;

function remember(compare: Comparison): Comparison {
  const results = new WeakMap<CompiledPolicy, WeakMap<CompiledPolicy, Promise<boolean>>>();
  return (before, after) => {
    const known = results.get(before)?.get(after);
    if (known !== undefined) return known;
    const comparing = compare(before, after);
    const ofBefore = results.get(before) ?? new WeakMap<CompiledPolicy, Promise<boolean>>();
    results.set(before, ofBefore.set(after, comparing));
    return comparing;
  };
}

/** The event loop does other work between slices. */
async function compareInSlices(
  before: CompiledPolicy,
  after: CompiledPolicy,
  within?: Parameters<typeof comparePoliciesInSlices>[2],
): Promise<boolean> {
  const slices = comparePoliciesInSlices(before, after, within);
  let startedAt = performance.now();
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value.change === "loosens";
    if (performance.now() - startedAt < sliceMs) continue;
    await nextTurn();
    startedAt = performance.now();
  }
}
