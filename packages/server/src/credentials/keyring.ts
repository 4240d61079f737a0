import { hkdfSync } from "node:crypto";

/** A master key. Nothing is encrypted or signed with the key itself: each purpose has a key derived from it. */
interface MasterKey {
  /** 16 hexadecimal characters, derived from the key, so that every process names a key in the same way. */
  id: string;
  /** A key of 32 bytes for one purpose, such as "audit chain". The label is part of the stored format: never change one. */
  derive: (label: string) => Uint8Array;
  /** The key itself, for what was encrypted before seals had key ids. */
  material: Uint8Array;
}

/**
 * The master keys, the newest first. New data is written with `current`. What is stored carries the id of its key, so that it can be
 * read with `byId` as long as that key is listed, and be written again with the current one (`bursar keys reseal`).
 */
export interface Keyring {
  current: MasterKey;
  all: readonly MasterKey[];
  byId: (keyId: string) => MasterKey | undefined;
  /** The key for one purpose, of the current master key or of the one named; undefined if that one is not listed. */
  derive: {
    (label: string): Uint8Array;
    (label: string, keyId: string): Uint8Array | undefined;
  };
}

const derivedKeyLength = 32;
const keyIdLength = 8;

/** The keys are 32 bytes each, and there is at least one. */
export function createKeyring(materials: readonly Uint8Array[]): Keyring {
  const all = materials.map(createMasterKey);
  const [current] = all;
  if (current === undefined) throw new Error("a keyring needs a key");
  const byId = (keyId: string) => all.find(({ id }) => id === keyId);
  function derive(label: string): Uint8Array;
  function derive(label: string, keyId: string): Uint8Array | undefined;
  function derive(label: string, keyId?: string): Uint8Array | undefined {
    return (keyId === undefined ? current : byId(keyId))?.derive(label);
  }
  return { current, all, byId, derive };
}

function createMasterKey(material: Uint8Array): MasterKey {
  const expand = (label: string, length: number) =>
    new Uint8Array(hkdfSync("sha256", material, "", label, length));
  const derived = new Map<string, Uint8Array>();
  return {
    id: Buffer.from(expand("master key id", keyIdLength)).toString("hex"),
    derive: (label) => {
      const key = derived.get(label) ?? expand(label, derivedKeyLength);
      // The labels are constants of the code, so the map is small.
      derived.set(label, key);
      return key;
    },
    material,
  };
}
