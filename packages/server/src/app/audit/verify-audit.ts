import { chainHash, chainStart } from "./audit-chain.js";
import type { AuditHead, AuditStore } from "./audit-entry.js";

export interface ChainVerdict {
  tenantId: string;
  entries: bigint;
  /** The first thing that is wrong with the chain; undefined where it is whole. */
  fault: string | undefined;
  /** The hash at its end, hexadecimal: kept elsewhere, it proves later that the chain was not rewritten as a whole. */
  head: string;
}

const pageSize = 1000;

/** Follows every chain from its first entry to its head. Every tenant must have one: its creation is its first entry. */
export async function verifyAudit(store: AuditStore, tenantIds: readonly string[]): Promise<ChainVerdict[]> {
  const heads = await store.listHeads();
  const verdicts: ChainVerdict[] = [];
  for (const head of heads) verdicts.push(await verifyChain(store, head));
  const known = new Set(heads.map(({ tenantId }) => tenantId));
  const lost = tenantIds.filter((tenantId) => !known.has(tenantId));
  return [
    ...verdicts,
    ...lost.map((tenantId) => ({
      tenantId,
      entries: 0n,
      fault: "the head of its chain is missing",
      head: "",
    })),
  ];
}

async function verifyChain(store: AuditStore, head: AuditHead): Promise<ChainVerdict> {
  let number = 0n;
  let hash = chainStart;
  const conclude = (fault: string | undefined): ChainVerdict => ({
    tenantId: head.tenantId,
    entries: number,
    fault,
    head: Buffer.from(hash).toString("hex"),
  });
  for (;;) {
    const page = await store.listAscending(head.tenantId, pageSize, number);
    for (const { number: found, hash: foundHash, ...entry } of page) {
      // What was appended after the head was read is the next verification's.
      if (number === head.number) break;
      if (found !== number + 1n) return conclude(`entry ${number + 1n} is missing`);
      const expected = chainHash(hash, found, entry);
      if (Buffer.compare(expected, foundHash) !== 0) return conclude(`entry ${found} was changed`);
      number = found;
      hash = expected;
    }
    if (page.length < pageSize || number === head.number) break;
  }
  const endsAtHead = number === head.number && Buffer.compare(hash, head.hash) === 0;
  return conclude(endsAtHead ? undefined : `the chain ends at entry ${number}, its head says ${head.number}`);
}
