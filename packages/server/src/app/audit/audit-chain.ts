import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { AuditBase, AuditHead, AuditStore, StrayEntry } from "./audit-entry.js";
import { chainStart, isPositionAuthentic } from "./chain-hash.js";
import { createChainWalk } from "./chain-walk.js";
import { type Checkpoint, isCheckpointAuthentic, tenantOfCheckpoint } from "./checkpoint.js";
import { readKeyEnds } from "./key-ends.js";

export interface ChainVerdict {
  tenantId: string;
  /** The number of entries that were verified. */
  entries: bigint;
  /** The first of the faults; undefined if the chain is intact. */
  fault: string | undefined;
  /** The first faults in the chain, at most `faultsMax`. */
  faults: readonly string[];
  /** How many more there are. */
  moreFaults: number;
  /** The last hash, in hexadecimal. */
  head: string;
  /** The number of the last entry that was exported and removed; 0 if there is none. */
  prunedTo: bigint;
  /** The number of the last entry from before the chain was keyed; only the entry after it protects those. */
  unkeyedTo: bigint;
  /** How many entries record that a restore or a failover has lost others. */
  losses: number;
}

export interface VerifyAuditOptions {
  store: Pick<AuditStore, "listHeads" | "listBases" | "listAscending" | "listStrays" | "listKeyEnds">;
  keys: IntegrityKeys;
  /** Every tenant must have a chain, because its creation is the first entry. */
  tenantIds: readonly string[];
  /** Copies that were kept outside of the database. */
  checkpoints?: readonly Checkpoint[];
  /** Called with each verdict as soon as it is known. */
  onVerdict?: (verdict: ChainVerdict) => void;
}

const pageSize = 1000;
/** How many faults of a chain are listed. The others are counted. */
export const faultsMax = 100;

/** Verifies every chain from the first entry that is kept to its head, and against the checkpoints. */
export async function verifyAudit({
  store,
  keys,
  tenantIds,
  checkpoints = [],
  onVerdict = () => undefined,
}: VerifyAuditOptions): Promise<ChainVerdict[]> {
  // Before the heads: if the chain goes on after a stray meanwhile, the walk finds the entry that says so.
  const strays = await store.listStrays();
  const heads = await store.listHeads();
  const bases = new Map((await store.listBases()).map((base) => [base.tenantId, base]));
  const byTenant = groupByTenant(checkpoints);
  const verdicts: ChainVerdict[] = [];
  const decide = (verdict: ChainVerdict) => {
    verdicts.push(verdict);
    onVerdict(verdict);
  };
  for (const head of heads) {
    const { tenantId } = head;
    const given = byTenant.get(tenantId) ?? [];
    decide(await verifyChain(store, keys, { head, base: bases.get(tenantId), strays }, given));
  }
  const known = new Set(heads.map(({ tenantId }) => tenantId));
  const lost = [...new Set([...tenantIds, ...byTenant.keys()])].filter((tenantId) => !known.has(tenantId));
  const fault = "the head of the chain is missing";
  for (const tenantId of lost)
    decide({
      ...{ tenantId, entries: 0n, head: "", prunedTo: 0n, unkeyedTo: 0n, losses: 0 },
      ...{ fault, faults: [fault], moreFaults: 0 },
    });
  return verdicts;
}

/** The walk ends at the head and starts at the base, so it does not see what is beyond them. */
function describeStray({ place, number }: StrayEntry): string {
  return place === "removed"
    ? `entry ${number} is in the database, although the entries up to it were exported and removed: it was inserted`
    : `entry ${number} is after the head of the chain: it was inserted, or the head was put back`;
}

export function groupByTenant(checkpoints: readonly Checkpoint[]): Map<string, Checkpoint[]> {
  const groups = new Map<string, Checkpoint[]>();
  for (const checkpoint of checkpoints) {
    const tenantId = tenantOfCheckpoint(checkpoint);
    if (tenantId === undefined)
      throw new Error(`the tenant of a checkpoint is malformed: ${checkpoint.tenant_id}`);
    const group = groups.get(tenantId) ?? [];
    group.push(checkpoint);
    groups.set(tenantId, group);
  }
  return groups;
}

async function verifyChain(
  store: Pick<AuditStore, "listAscending" | "listKeyEnds">,
  keys: IntegrityKeys,
  { head, base, strays }: { head: AuditHead; base: AuditBase | undefined; strays: readonly StrayEntry[] },
  checkpoints: readonly Checkpoint[],
): Promise<ChainVerdict> {
  const ends = readKeyEnds(keys, await store.listKeyEnds(head.tenantId));
  const authentic = checkpoints.filter((checkpoint) => isCheckpointAuthentic(keys, checkpoint));
  const walk = createChainWalk(keys, base ?? { number: 0n, hash: chainStart }, authentic, ends);
  const found = collectFaults();
  if (base !== undefined && !isPositionAuthentic(keys, "base", base))
    found.add(`the record that entries up to ${base.number} were exported and removed is forged`);
  for (const checkpoint of checkpoints)
    if (!authentic.includes(checkpoint))
      found.add(`the signature of the checkpoint of entry ${checkpoint.number} is invalid`);
  found.add(walk.start());
  await walkToHead(store, head, walk, found.add);
  found.add(judgeEnd(keys, head, walk.position(), walk.isKeyed() || found.count() > 0));
  found.add(walk.findUnreached());
  for (const stray of strays) if (stray.tenantId === head.tenantId) found.add(describeStray(stray));
  const { hash, unkeyedTo } = walk.position();
  return {
    ...{ tenantId: head.tenantId, entries: walk.verified(), ...found.listed() },
    head: Buffer.from(hash).toString("hex"),
    prunedTo: base?.number ?? 0n,
    unkeyedTo,
    losses: walk.losses(),
  };
}

/** A chain can have as many faults as entries. */
function collectFaults() {
  const faults: string[] = [];
  let count = 0;
  return {
    add: (fault: string | undefined) => {
      if (fault === undefined) return;
      count += 1;
      if (count <= faultsMax) faults.push(fault);
    },
    count: () => count,
    listed: () => ({ fault: faults[0], faults, moreFaults: count - faults.length }),
  };
}

async function walkToHead(
  store: Pick<AuditStore, "listAscending">,
  head: AuditHead,
  walk: ReturnType<typeof createChainWalk>,
  onFault: (fault: string | undefined) => void,
): Promise<void> {
  for (;;) {
    const page = await store.listAscending(head.tenantId, pageSize, walk.position().number);
    for (const entry of page) {
      // Entries appended after the head was read are left for the next verification.
      if (walk.position().number >= head.number) return;
      if (entry.number > head.number) return onFault(walk.step(entry));
      for (const fault of walk.stepOver(entry)) onFault(fault);
    }
    if (page.length < pageSize) return;
  }
}

function judgeEnd(
  keys: IntegrityKeys,
  head: AuditHead,
  { number, hash }: { number: bigint; hash: Uint8Array },
  isKeyed: boolean,
): string | undefined {
  if (number !== head.number || Buffer.compare(hash, head.hash) !== 0)
    return `the chain ends at entry ${number}, but its head is entry ${head.number}`;
  if (number === 0n) return "the chain is empty: its entries were removed";
  if (!isKeyed) return "no entry of the chain is keyed";
  return isPositionAuthentic(keys, "head", head)
    ? undefined
    : `the head, entry ${number}, was changed: entries after it may have been removed`;
}
