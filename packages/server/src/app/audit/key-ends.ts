import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { type IntegrityKeys, isListed, requireKey } from "../access/integrity-keys.js";

/*
 * A master key that was replaced is retained for the entries that it has authenticated, and may be in the hands of a thief. So it counts only
 * up to the entry that was the last one of a chain when `bursar keys reseal` ended it. The record of that is authenticated with a listed key.
 */

/** The last entry of a chain that a master key can have written. */
export interface KeyEnd {
  tenantId: string;
  endedKeyId: string;
  number: bigint;
}

export interface StoredKeyEnd extends KeyEnd {
  /** The key of the MAC, not the one that has ended. */
  keyId: string;
  mac: Uint8Array;
}

/** The ends of the keys of one chain, by the ids of the keys. */
export type KeyEnds = ReadonlyMap<string, bigint>;

const noEnds: KeyEnds = new Map();

/** Authenticates an end with the current key. */
export function sealKeyEnd(keys: IntegrityKeys, end: KeyEnd): StoredKeyEnd {
  return { ...end, keyId: keys.currentId, mac: macOf(requireKey(keys, "audit key end"), end) };
}

/** A key that had to be ended twice, because a process still wrote with it, counts up to the later end. What is not authentic is left out. */
export function readKeyEnds(keys: IntegrityKeys, stored: readonly StoredKeyEnd[]): KeyEnds {
  const ends = new Map<string, bigint>();
  for (const end of stored) {
    const { endedKeyId, number } = end;
    if (number > (ends.get(endedKeyId) ?? 0n) && isAuthentic(keys, end)) ends.set(endedKeyId, number);
  }
  return ends;
}

/** The ends that are needed to judge these entries: none, unless a key that was replaced has authenticated one of them. */
export async function findKeyEnds(
  keys: IntegrityKeys,
  entries: readonly { keyId: string | null }[],
  list: () => Promise<StoredKeyEnd[]>,
): Promise<KeyEnds> {
  const isNeeded = entries.some(({ keyId }) => keyId !== null && !isListed(keys, keyId));
  return isNeeded ? readKeyEnds(keys, await list()) : noEnds;
}

/** Whether a key can have authenticated the entry with this number. One that is not listed, and has no recorded end, has authenticated none. */
export function isBeforeEnd(keys: IntegrityKeys, ends: KeyEnds, keyId: string, number: bigint): boolean {
  return isListed(keys, keyId) || number <= (ends.get(keyId) ?? 0n);
}

function isAuthentic(keys: IntegrityKeys, end: StoredKeyEnd): boolean {
  const key = keys.derive("audit key end", end.keyId);
  if (key === undefined) return false;
  const expected = macOf(key, end);
  return end.mac.length === expected.length && timingSafeEqual(end.mac, expected);
}

function macOf(key: Uint8Array, { tenantId, endedKeyId, number }: KeyEnd): Uint8Array {
  const content = canonicalJson({ kind: "key end", tenantId, endedKeyId, number: number.toString() });
  return createHmac("sha256", key).update(content).digest();
}
