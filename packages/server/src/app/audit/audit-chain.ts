import { createHash } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import type { AuditDraft } from "./audit-entry.js";

/** What the first entry of a chain stands on. */
export const chainStart: Uint8Array = new Uint8Array(32);

/** The hash of an entry: of the hash before it, its place, and everything that it says. */
export function chainHash(previousHash: Uint8Array, number: bigint, entry: AuditDraft): Uint8Array {
  // What is not there is null in the database, and must be in the hash: the entry is hashed again as it is read.
  const members = Object.entries(entry).map(([name, value]) => [name, value ?? null] as const);
  const content = canonicalJson({
    ...(Object.fromEntries(members) as unknown as AuditDraft),
    tenantId: entry.tenantId ?? null,
    number: number.toString(),
    occurredAt: entry.occurredAt.toISOString(),
  });
  return createHash("sha256").update(previousHash).update(content).digest();
}
