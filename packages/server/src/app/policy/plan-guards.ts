import type { CompiledPolicy } from "@bursar/domain";
import type { PolicyComparer } from "./compare-policies.js";
import type { PolicyGuard } from "./policy.js";

/** Each guard is compiled and judges every payment to an address off the allow-list. */
const guardsMax = 8;

interface GuardedBy {
  /** The policy that a guard judges by. */
  policyOf: (guard: PolicyGuard) => Promise<CompiledPolicy>;
  opens: PolicyComparer["opens"];
}

/** The version that is replaced, and how long it goes on judging. */
interface ReplacedPolicy {
  version: number;
  policy: CompiledPolicy;
  waitSeconds: number;
}

/**
 * The guards of a new version: those that have not ended, and the replaced version if the new one lets more addresses be paid. So a
 * payment is judged by every version of the waiting time before it, in whatever order they came. A guard that the replaced version makes
 * superfluous, because that is as strict and lasts as long, is dropped. If there are still too many, one that rejects takes their place.
 *
 * `replaced` is null if the new version was approved, or is the operator's.
 */
export async function planGuards(
  by: GuardedBy,
  earlier: readonly PolicyGuard[],
  replaced: ReplacedPolicy | null,
  next: CompiledPolicy,
  now: Date,
): Promise<readonly PolicyGuard[]> {
  const lasting = earlier.filter(({ until }) => now < until);
  if (replaced === null || replaced.waitSeconds === 0 || !(await by.opens(replaced.policy, next)))
    return lasting;
  const until = new Date(now.getTime() + replaced.waitSeconds * 1000);
  const kept: PolicyGuard[] = [];
  for (const guard of lasting)
    if (guard.until > until || (await by.opens(await by.policyOf(guard), replaced.policy))) kept.push(guard);
  const guards = [...kept, { version: replaced.version, until }];
  if (guards.length <= guardsMax) return guards;
  return [{ version: null, until: new Date(Math.max(...guards.map((guard) => guard.until.getTime()))) }];
}
