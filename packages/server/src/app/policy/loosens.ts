import { setImmediate as nextTurn } from "node:timers/promises";
import { type CompiledPolicy, comparePoliciesInSlices } from "@bursar/domain";

const sliceMs = 3;

/** Whether a new policy cannot be proven to be as strict as the old one. The event loop does other work between slices. */
export async function loosens(
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
