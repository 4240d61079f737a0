/**
 * Keys that authenticate what is stored. They are derived from the master keys, so that a writer to the database cannot forge an audit
 * entry or a credential. What is stored names the master key that its key was derived from.
 */
export interface IntegrityKeys {
  /** The id of the master key that new data is written with. */
  currentId: string;
  /** Undefined if the master key is unknown. */
  derive: (label: KeyLabel, keyId: string) => Uint8Array | undefined;
}

/** The labels are part of the stored format. */
export type KeyLabel = RetainedLabel | "client row" | "change request" | "tenant row";

/**
 * Keys that are kept, encrypted, after their master key was replaced: old entries and checkpoints must stay verifiable, and the hash of
 * a secret cannot be computed again without the secret. Commands of the operator can be repeated at any time later, and
 * approvals are counted for as long as their transaction waits. The rows of clients, open change requests and tenants are authenticated
 * again by `bursar keys reseal`.
 */
export const retainedLabels = [
  "audit chain",
  "audit checkpoint",
  "client secret",
  "operator request",
  "approval",
] as const;
type RetainedLabel = (typeof retainedLabels)[number];

/** A derived key as it is stored: encrypted with a master key, and named after the one that it was derived from. */
export interface RetainedKey {
  keyId: string;
  label: string;
  sealed: Uint8Array;
}

export function requireKey(keys: IntegrityKeys, label: KeyLabel): Uint8Array {
  const key = keys.derive(label, keys.currentId);
  if (key === undefined) throw new Error("the current master key is missing");
  return key;
}
