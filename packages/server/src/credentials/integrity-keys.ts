import {
  derivedBy,
  type IntegrityKeys,
  type KeyLabel,
  type RetainedKey,
  retainedLabels,
} from "../app/access/integrity-keys.js";
import { createProvenLinks } from "../app/access/proven-links.js";
import { OperatorError } from "../operator-error.js";
import type { Sealing } from "./sealing.js";

export interface RetainingKeys extends IntegrityKeys {
  /** The ids of the listed master keys, and of earlier ones. */
  ids: () => string[];
  /**
   * Takes the stored keys into use, and returns those to store: keys of listed master keys that are not stored yet, and keys that are
   * encrypted with an older master key than the current one.
   */
  retain: (stored: readonly RetainedKey[]) => RetainedKey[];
}

/** The integrity keys of the listed master keys, and of earlier ones whose derived keys were retained. */
export function createIntegrityKeys(sealing: Sealing): RetainingKeys {
  const { keyring } = sealing;
  const retained = new Map<string, Uint8Array>();
  const retainedIds = new Set<string>();
  const seal = (keyId: string, label: string, key: Uint8Array): RetainedKey => ({
    keyId,
    label,
    sealed: sealing.seal(contextOf(keyId, label), key),
  });
  return {
    currentId: keyring.current.id,
    provenLinks: createProvenLinks(),
    ids: () => [...new Set([...keyring.all.map(({ id }) => id), ...retainedIds])],
    derive: (label: KeyLabel, keyId: string) =>
      keyring.derive(derivedBy(label), keyId) ?? retained.get(contextOf(keyId, label)),
    retain: (all) => {
      // A version before has stored keys for more; with these a thief of an old master key could forge rows.
      const stored = all.filter(({ label }) => (retainedLabels as readonly string[]).includes(label));
      const known = new Set(stored.map(({ keyId, label }) => contextOf(keyId, label)));
      const added = keyring.all.flatMap(({ id, derive }) =>
        retainedLabels
          .filter((label) => !known.has(contextOf(id, label)))
          .map((label) => seal(id, label, derive(derivedBy(label)))),
      );
      const resealed = stored.flatMap(({ keyId, label, sealed }) => {
        const context = contextOf(keyId, label);
        const key = sealing.open(context, sealed);
        if (key === undefined) return [];
        retained.set(context, key);
        retainedIds.add(keyId);
        return sealing.isCurrent(sealed) ? [] : [seal(keyId, label, key)];
      });
      if (stored.length > 0 && retained.size === 0) {
        throw new OperatorError(
          "The master key does not decrypt the keys in this database. Use the master key that they were encrypted with.",
        );
      }
      return [...added, ...resealed];
    },
  };
}

function contextOf(keyId: string, label: string): string {
  return `retained-key ${keyId} ${label}`;
}
