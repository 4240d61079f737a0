import { createHash } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import type { AuditDraft, AuditHead, AuditStore } from "./audit-entry.js";

/** The hash before the first entry of a chain. */
export const chainStart: Uint8Array = new Uint8Array(32);

/** The hash of an entry covers the previous hash, its position, and all of its fields. */
export function chainHash(previousHash: Uint8Array, number: bigint, entry: AuditDraft): Uint8Array {
  // A missing field is stored as null, and the entry is hashed again as it was stored, so the hash must see null too.
  const members = Object.entries(entry).map(([name, value]) => [name, value ?? null] as const);
  const content = canonicalJson({
    ...(Object.fromEntries(members) as unknown as AuditDraft),
    tenantId: entry.tenantId ?? null,
    number: number.toString(),
    occurredAt: entry.occurredAt.toISOString(),
  });
  return createHash("sha256").update(previousHash).update(content).digest();
}

export interface ChainVerdict {
  tenantId: string;
  entries: bigint;
  /** The first fault in the chain; undefined if it is intact. */
  fault: string | undefined;
  /** The last hash, in hexadecimal. A copy kept elsewhere proves later that the chain was not rewritten as a whole. */
  head: string;
}

const pageSize = 1000;

/** Verifies every chain from its first entry to its head. Every tenant must have one, because its creation is the first entry. */
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
      fault: "the head of the chain is missing",
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
      // Entries appended after the head was read are left for the next verification.
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
  return conclude(
    endsAtHead ? undefined : `the chain ends at entry ${number}, but its head is entry ${head.number}`,
  );
}
