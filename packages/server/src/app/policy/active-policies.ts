import {
  type CompiledPolicy,
  compilePolicy,
  defaultPolicy,
  type PolicyDocument,
  type PolicyWorld,
} from "@bursar/domain";
import { LRUCache } from "lru-cache";
import { createFreshCache } from "../../runtime/fresh-cache.js";
import type { WakeUps } from "../../runtime/wake-ups.js";
import type {
  ActivePolicies,
  ActivePolicy,
  ActivePolicyReads,
  PolicyGuard,
  PolicyStore,
  StoredPolicy,
} from "./policy.js";

export interface ActivePoliciesDeps {
  store: ActivePolicyReads;
  world: PolicyWorld;
  wakeUps: Pick<WakeUps, "subscribe">;
  /** A monotonic clock. */
  monotonicMs: () => number;
}

/** The policy of a tenant that has not stored one. */
export const firstPolicy: StoredPolicy = {
  version: 0,
  document: defaultPolicy,
  updatedAt: null,
  guards: [],
};

/** As many as the cache of what is fresh has entries. */
const compiledMax = 10_000;

/**
 * The policies in force, as compiled objects. What is cached is checked every few seconds, by the number of the version alone: a version
 * never changes, so it is read and compiled once.
 */
export function createActivePolicies({
  store,
  world,
  wakeUps,
  monotonicMs,
}: ActivePoliciesDeps): ActivePolicies {
  const compiled = new LRUCache<string, ActivePolicy>({ max: compiledMax });
  let clears = 0;
  const first = activate(firstPolicy, world);

  async function load(reads: ActivePolicyReads, tenantId: string): Promise<ActivePolicy> {
    const clearsBefore = clears;
    const version = await reads.readPolicyVersion(tenantId);
    if (version === undefined) return first;
    const known = compiled.get(tenantId);
    if (known?.version === version) return known;
    const stored = await reads.readPolicy(tenantId);
    const active = stored === undefined ? first : await activateGuarded(reads, tenantId, stored);
    if (clears === clearsBefore) compiled.set(tenantId, active);
    return active;
  }

  async function activateGuarded(
    reads: ActivePolicyReads,
    tenantId: string,
    stored: StoredPolicy,
  ): Promise<ActivePolicy> {
    const { policy, version } = activate(stored, world);
    const guards: ActivePolicy["guards"][number][] = [];
    for (const guard of stored.guards)
      guards.push({ until: guard.until, policy: await compileGuard(reads, world, tenantId, guard) });
    // The windows of all are counted, because a verdict can depend on each.
    const windows = unionOfWindows(policy.windows, ...guards.map((guard) => guard.policy.windows));
    return { version, policy: { ...policy, windows }, guards };
  }

  const cache = createFreshCache<ActivePolicy>((tenantId) => load(store, tenantId), monotonicMs);
  wakeUps.subscribe("policy", (tenantIds) => {
    if (tenantIds !== "any") for (const tenantId of tenantIds) cache.forget(tenantId);
  });
  return {
    ...cache,
    within: (reads) => ({
      peek: cache.peek,
      load: (tenantId) => cache.loadBy(tenantId, () => load(reads, tenantId)),
    }),
    // After a restore the number of a version can belong to another document.
    clear: () => {
      clears += 1;
      compiled.clear();
      cache.clear();
    },
  };
}

function activate(stored: StoredPolicy, world: PolicyWorld): ActivePolicy {
  return { version: stored.version, policy: compileStored(stored, world), guards: [] };
}

/** The policy that a guard judges by. */
export async function compileGuard(
  store: Pick<PolicyStore, "readPolicy">,
  world: PolicyWorld,
  tenantId: string,
  { version }: Pick<PolicyGuard, "version">,
): Promise<CompiledPolicy> {
  if (version === null) return compileStored({ document: guardingPolicy }, world);
  return compileStored((await store.readPolicy(tenantId, version)) ?? firstPolicy, world);
}

/** A stored document as it is in force. If it no longer compiles, it allows nothing, but who approves its changes stays. */
export function compileStored(
  { document }: Pick<StoredPolicy, "document">,
  world: PolicyWorld,
): CompiledPolicy {
  const { policy } = compilePolicy(document, world);
  if (policy !== undefined) return policy;
  const { groups, changes } = document;
  const kept = { ...(groups === undefined ? {} : { groups }), ...(changes === undefined ? {} : { changes }) };
  const closed = compilePolicy({ ...closedPolicy, ...kept }, world).policy;
  return closed ?? (compilePolicy(closedPolicy, world).policy as CompiledPolicy);
}

export function unionOfWindows(...lists: CompiledPolicy["windows"][]): CompiledPolicy["windows"] {
  const keyed = lists.flat().map((one) => [`${one.per} ${one.asset} ${one.periodSeconds}`, one] as const);
  return [...new Map(keyed).values()];
}

/** Stands for more guards than are kept. */
const guardingPolicy: PolicyDocument = {
  rules: [],
  default: {
    action: "reject",
    reason:
      "The policy was changed so often that addresses off the allow-list cannot be paid until the waiting time has passed.",
  },
};

/** A document was valid when it was stored, but names an asset, a network or a market that is no longer configured. */
const closedPolicy: PolicyDocument = {
  rules: [],
  default: {
    action: "reject",
    reason:
      "The policy names an asset, a network or a market that is no longer configured. Replace the policy, or restore the configuration.",
  },
};
