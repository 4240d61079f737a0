import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { Listed } from "../requests/listed.js";
import {
  type AuditStore,
  type ChainedAuditEntry,
  headChangedAction,
  type ListedAuditEntry,
} from "./audit-entry.js";
import { chainHash, chainStart, unkeyedHash } from "./chain-hash.js";
import { findKeyEnds, isBeforeEnd, type KeyEnds } from "./key-ends.js";

/**
 * Whether the service has written an entry at its place: its hash continues that of the entry before it. Another writer to the database
 * can insert a row, but not one with such a hash. An entry from before the chain was keyed has a hash that anybody can compute; it counts
 * only after another one of that kind. A record that the chain was disturbed is never hidden, also if the disturbance has broken its hash.
 * A key that was replaced counts up to its end; `anywhere` is for entries that can only prevent something.
 */
export function isEntryAuthentic(
  keys: IntegrityKeys,
  listed: ListedAuditEntry,
  ends: KeyEnds | "anywhere",
): boolean {
  const { previous: found, number, hash, keyId, ...entry } = listed;
  if (entry.action === headChangedAction) return true;
  const previous = number === 1n ? { hash: chainStart, keyId: null } : found;
  if (previous === null) return false;
  if (keyId === null)
    return previous.keyId === null && Buffer.compare(unkeyedHash(previous.hash, number, entry), hash) === 0;
  if (ends !== "anywhere" && !isBeforeEnd(keys, ends, keyId, number)) return false;
  const expected = chainHash(keys, keyId, previous.hash, number, entry);
  return expected !== undefined && Buffer.compare(expected, hash) === 0;
}

export type ListAudit = (page: Parameters<AuditStore["find"]>[0]) => Promise<Listed<ChainedAuditEntry>>;

/** A page of a tenant's log without what the service has not written. It costs one HMAC an entry. */
export function createAuditList(
  store: Pick<AuditStore, "list" | "find" | "listKeyEnds">,
  keys: IntegrityKeys,
): ListAudit {
  return async (page) => {
    const { tenantId, limit } = page;
    const { items: rows, scannedTo } = await readPage(store, page);
    const ends = await findKeyEnds(keys, rows, () => store.listKeyEnds(tenantId));
    const last = rows.length < limit ? scannedTo : rows.at(-1)?.number.toString();
    return { items: rows.filter((row) => isEntryAuthentic(keys, row, ends)), scannedTo: last };
  };
}

/** Without a filter, one statement finds the entries and what they continue. */
async function readPage(
  store: Pick<AuditStore, "list" | "find">,
  page: Parameters<AuditStore["find"]>[0],
): Promise<Listed<ListedAuditEntry>> {
  const { tenantId, filter, limit, before } = page;
  if (Object.keys(filter).length > 0) return store.find(page);
  return { items: await store.list(tenantId, limit, before), scannedTo: undefined };
}
