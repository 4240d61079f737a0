import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "@bursar/domain";
import { type IntegrityKeys, type KeyLabel, requireKey } from "../../app/access/integrity-keys.js";

/** The MAC of a row, under a key that `keyId` names. */
export interface RowMac {
  keyId: string | null;
  mac: Uint8Array | null;
}

/** Authenticates what a row says with the current key: a writer to the database cannot make the service act on another one. */
export function macOfRow(
  keys: IntegrityKeys,
  label: KeyLabel,
  content: object,
): { keyId: string; mac: Buffer } {
  return { keyId: keys.currentId, mac: compute(requireKey(keys, label), content) };
}

export function isRowAuthentic(
  keys: IntegrityKeys,
  label: KeyLabel,
  content: object,
  { keyId, mac }: RowMac,
): boolean {
  const key = keyId === null ? undefined : keys.derive(label, keyId);
  if (key === undefined || mac === null) return false;
  const expected = compute(key, content);
  return mac.length === expected.length && timingSafeEqual(mac, expected);
}

function compute(key: Uint8Array, content: object): Buffer {
  // Through JSON, so that times are strings, and fields without a value are left out.
  const plain: unknown = JSON.parse(JSON.stringify(content));
  return createHmac("sha256", key).update(canonicalJson(plain)).digest();
}
