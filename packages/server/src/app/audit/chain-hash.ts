import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { type IntegrityKeys, isListed, requireKey } from "../access/integrity-keys.js";
import type { AuditDraft } from "./audit-entry.js";

/** The hash before the first entry of a chain. */
export const chainStart: Uint8Array = new Uint8Array(32);

/** The position of an entry in a chain: all that the next entry needs of it. */
export interface ChainPosition {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
  /** Of a head: the number of the last entry about the opt-out of the tenant. */
  optOut?: string | null;
}

/**
 * The hash of an entry is an HMAC over the previous hash, its position, and all of its fields. A field without a value is left out, so
 * that an entry keeps its hash when a field is added later. Undefined if the master key is unknown.
 */
export function chainHash(
  keys: IntegrityKeys,
  keyId: string,
  previousHash: Uint8Array,
  number: bigint,
  entry: AuditDraft,
): Uint8Array | undefined {
  const key = keys.derive("audit chain", keyId);
  if (key === undefined) return undefined;
  const content = canonicalJson({ ...present(entry), keyId, number: number.toString() });
  return createHmac("sha256", key).update(previousHash).update(content).digest();
}

function present(entry: AuditDraft): Record<string, unknown> {
  const members = Object.entries({ ...entry, occurredAt: entry.occurredAt.toISOString() });
  return Object.fromEntries(members.filter(([, value]) => value !== null && value !== undefined));
}

/** The fields of entries from before the chain was keyed. */
const unkeyedFields = [
  "tenantId",
  "actor",
  "clientId",
  "tokenId",
  "action",
  "object",
  "outcome",
  "code",
  "repeated",
  "requestId",
  "address",
] as const satisfies readonly (keyof AuditDraft)[];

/** The hash of an entry from before the chain was keyed: plain SHA-256. */
export function unkeyedHash(previousHash: Uint8Array, number: bigint, entry: AuditDraft): Uint8Array {
  const content = canonicalJson({
    ...Object.fromEntries(unkeyedFields.map((name) => [name, entry[name] ?? null])),
    number: number.toString(),
    occurredAt: entry.occurredAt.toISOString(),
  });
  return createHash("sha256").update(previousHash).update(content).digest();
}

/** What a MAC of a position is for: the end of a chain, or the place up to which it was exported and removed. */
export type PositionKind = "head" | "base";

/** Authenticates a position with the current key. */
export function positionMac(
  keys: IntegrityKeys,
  kind: PositionKind,
  position: ChainPosition,
): { keyId: string; mac: Uint8Array } {
  return { keyId: keys.currentId, mac: macOf(requireKey(keys, "audit chain"), kind, position) };
}

/** A replaced key does not count for heads, or its thief could append to a chain. `bursar keys reseal` writes heads with the new key. */
export function isPositionAuthentic(
  keys: IntegrityKeys,
  kind: PositionKind,
  position: ChainPosition & { keyId: string | null; mac: Uint8Array | null },
): boolean {
  const { keyId } = position;
  if (keyId === null || (kind === "head" && !isListed(keys, keyId))) return false;
  const key = keys.derive("audit chain", keyId);
  if (key === undefined || position.mac === null) return false;
  const expected = macOf(key, kind, position);
  return position.mac.length === expected.length && timingSafeEqual(position.mac, expected);
}

function macOf(
  key: Uint8Array,
  kind: PositionKind,
  { tenantId, number, hash, optOut }: ChainPosition,
): Uint8Array {
  const content = canonicalJson({
    kind,
    tenantId,
    number: number.toString(),
    hash: Buffer.from(hash).toString("hex"),
    ...(optOut == null ? {} : { optOut }),
  });
  return createHmac("sha256", key).update(content).digest();
}
