import { setImmediate as nextTurn } from "node:timers/promises";
import { type CompiledPolicy, defaultPolicy, type PolicyDocument } from "@bursar/domain";
import { createFreshCache } from "../../runtime/fresh-cache.js";
import type { WakeUps } from "../../runtime/loops/wake-ups.js";
import { createRecentCache } from "../../runtime/recent-cache.js";
import type {
  ActivePolicies,
  ActivePolicy,
  ActivePolicyReads,
  PolicyGuard,
  PolicyKey,
  PolicyStore,
  StoredPolicy,
} from "./policy.js";
import type { PolicyCompiler } from "./policy-compiler.js";

export interface ActivePoliciesDeps {
  store: ActivePolicyReads;
  compiler: PolicyCompiler;
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
/** How long policies are compiled before the event loop does other work. */
const sliceMs = 3;

/**
 * The policies in force, as compiled objects. What is cached is checked every few seconds, by the number of the version alone: a version
 * never changes, so it is read and compiled once.
 */
export function createActivePolicies({
  store,
  compiler,
  wakeUps,
  monotonicMs,
}: ActivePoliciesDeps): ActivePolicies {
  const compiled = createRecentCache<ActivePolicy>(compiledMax);
  let clears = 0;
  const first: ActivePolicy = { version: 0, policy: compiler.compileStored(firstPolicy), guards: [] };

  /** What has changed is read and compiled in pages; the others cost one statement together. */
  async function loadAll(
    reads: ActivePolicyReads,
    tenantIds: readonly string[],
  ): Promise<Map<string, ActivePolicy>> {
    const clearsBefore = clears;
    const versions = await reads.readPolicyVersions(tenantIds);
    const found = new Map<string, ActivePolicy>();
    const changed: PolicyKey[] = [];
    for (const tenantId of tenantIds) {
      const version = versions.get(tenantId);
      const known = version === undefined ? first : compiled.get(tenantId);
      if (version !== undefined && known?.version !== version) changed.push({ tenantId, version });
      else if (known !== undefined) found.set(tenantId, known);
    }
    for (const active of await activateAll(reads, compiler, changed)) {
      found.set(active.tenantId, active.policy);
      if (clears === clearsBefore) compiled.set(active.tenantId, active.policy);
    }
    return found;
  }

  async function load(tenantId: string): Promise<ActivePolicy> {
    return (await loadAll(store, [tenantId])).get(tenantId) ?? first;
  }

  const cache = createFreshCache<ActivePolicy>(load, monotonicMs);
  wakeUps.subscribe("policy", (tenantIds) => {
    if (tenantIds !== "any") for (const tenantId of tenantIds) cache.forget(tenantId);
  });
  return {
    ...cache,
    within: (reads) => ({
      peek: cache.peek,
      loadAll: (tenantIds) => cache.loadAllBy(tenantIds, (keys) => loadAll(reads, keys)),
    }),
    // After a restore the number of a version can belong to another document.
    clear: () => {
      clears += 1;
      compiled.clear();
      cache.clear();
    },
  };
}

/** One of the stored versions, compiled. */
type CompiledVersion = Pick<StoredPolicy, "guards"> & { policy: CompiledPolicy };

/** Documents that are read with one statement: 8 MiB, if all are as large as possible. */
const documentsMax = 32;

async function activateAll(
  reads: ActivePolicyReads,
  compiler: PolicyCompiler,
  keys: readonly PolicyKey[],
): Promise<{ tenantId: string; policy: ActivePolicy }[]> {
  const inForce = await compileVersions(reads, compiler, keys);
  const guardKeys = keys.flatMap(({ tenantId, version }) =>
    guardsOf(inForce, { tenantId, version }).flatMap((guard) =>
      guard.version === null ? [] : [{ tenantId, version: guard.version }],
    ),
  );
  const guarding = await compileVersions(reads, compiler, guardKeys);
  const compiledOf = (versions: typeof inForce, key: PolicyKey) =>
    versions.get(textOf(key))?.policy ?? compiler.compileStored(firstPolicy);
  return keys.map(({ tenantId, version }) => {
    const guards = guardsOf(inForce, { tenantId, version }).map((guard) => ({
      until: guard.until,
      policy:
        guard.version === null
          ? compiler.compileStored({ document: guardingPolicy })
          : compiledOf(guarding, { tenantId, version: guard.version }),
    }));
    const policy = compiledOf(inForce, { tenantId, version });
    // The windows of all are counted, because a verdict can depend on each.
    const windows = unionOfWindows(policy.windows, ...guards.map((guard) => guard.policy.windows));
    return { tenantId, policy: { version, policy: { ...policy, windows }, guards } };
  });
}

/** By tenant and version. The documents are not kept, and the event loop does other work between them. */
async function compileVersions(
  reads: ActivePolicyReads,
  compiler: PolicyCompiler,
  keys: readonly PolicyKey[],
): Promise<Map<string, CompiledVersion>> {
  const versions = new Map<string, CompiledVersion>();
  let startedAtMs = performance.now();
  for (let from = 0; from < keys.length; from += documentsMax)
    for (const stored of await reads.readPolicies(keys.slice(from, from + documentsMax))) {
      if (performance.now() - startedAtMs >= sliceMs) {
        await nextTurn();
        startedAtMs = performance.now();
      }
      versions.set(textOf(stored), { guards: stored.guards, policy: compiler.compileStored(stored) });
    }
  return versions;
}

function guardsOf(versions: ReadonlyMap<string, CompiledVersion>, key: PolicyKey): readonly PolicyGuard[] {
  return versions.get(textOf(key))?.guards ?? [];
}

function textOf({ tenantId, version }: PolicyKey): string {
  return `${tenantId} ${version}`;
}

/** The policy that a guard judges by. */
export async function compileGuard(
  store: Pick<PolicyStore, "readPolicy">,
  compiler: Pick<PolicyCompiler, "compileStored">,
  tenantId: string,
  { version }: Pick<PolicyGuard, "version">,
): Promise<CompiledPolicy> {
  if (version === null) return compiler.compileStored({ document: guardingPolicy });
  return compiler.compileStored((await store.readPolicy(tenantId, version)) ?? firstPolicy);
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
