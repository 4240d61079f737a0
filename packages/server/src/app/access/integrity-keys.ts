import type { ProvenLinks } from "./proven-links.js";

/**
 * Keys that authenticate what is stored. They are derived from the master keys, so that a writer to the database cannot forge an audit
 * entry or a credential. What is stored names the master key that its key was derived from.
 */
export interface IntegrityKeys {
  /** The id of the master key that new data is written with. */
  currentId: string;
  /** Undefined if the master key is unknown. */
  derive: (label: KeyLabel, keyId: string) => Uint8Array | undefined;
  /** What was verified with these keys, which do not change while the process runs. */
  provenLinks?: ProvenLinks;
}

/** The labels are part of the stored format. */
export type KeyLabel =
  | RetainedLabel
  | "client row"
  | "change request"
  | "tenant row"
  | "transaction"
  | "order"
  | "approval"
  | "wallet address"
  | "sweep"
  | "role"
  | "session"
  | "webhook endpoint"
  | "stop record"
  | "audit key end"
  | "operator request";

/**
 * Keys that are kept, encrypted, after their master key was replaced: old entries and checkpoints must stay verifiable, and the hash of
 * a secret cannot be computed again without the secret. Everything else is authenticated again by `bursar keys reseal`, so that
 * a master key that was replaced, and may be in the hands of a thief, authenticates nothing that the service acts on.
 */
export const retainedLabels = [
  "audit chain",
  "audit checkpoint",
  "client secret",
  // For what is shown of what has ended. They are the keys of "transaction", "approval" and "change request", by names that nothing is paid,
  // approved or applied by.
  "ended transaction",
  "ended approval",
  "ended change request",
] as const;
type RetainedLabel = (typeof retainedLabels)[number];

/** The label that a key is derived by. */
export function derivedBy(label: KeyLabel): KeyLabel {
  switch (label) {
    case "ended transaction":
      return "transaction";
    case "ended approval":
      return "approval";
    case "ended change request":
      return "change request";
    default:
      return label;
  }
}

/** A derived key as it is stored: encrypted with a master key, and named after the one that it was derived from. */
export interface RetainedKey {
  keyId: string;
  label: string;
  sealed: Uint8Array;
}

/**
 * Whether a master key is in the file of keys. One that was replaced, and is only retained for what it has authenticated before, is not:
 * its other keys are unknown.
 */
export function isListed(keys: IntegrityKeys, keyId: string): boolean {
  return keys.derive("audit key end", keyId) !== undefined;
}

export function requireKey(keys: IntegrityKeys, label: KeyLabel): Uint8Array {
  const key = keys.derive(label, keys.currentId);
  if (key === undefined) throw new Error("the current master key is missing");
  return key;
}
