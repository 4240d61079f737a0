import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../operator-error.js";
import type { SealingKey } from "./sealing-keys.js";

/** The file as it is stored. Everything but `sealed` is authenticated as additional data. */
interface SealedSeed {
  readonly version: 1;
  readonly keyId: string;
  readonly createdAt: string;
  /** Nonce, ciphertext and tag of AES-256-GCM, in base64. */
  readonly sealed: string;
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

export const seedPath = (folder: string) => join(folder, "seed.json");

/** Seals the entropy of the mnemonic. The seed and all keys follow from it, and the words can be shown again. */
export function sealSeed(entropy: Uint8Array, key: SealingKey, createdAt: string): SealedSeed {
  const header = { version: 1, keyId: key.id, createdAt } as const;
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.encryption, nonce).setAAD(additionalData(header));
  const sealed = Buffer.concat([nonce, cipher.update(entropy), cipher.final(), cipher.getAuthTag()]);
  return { ...header, sealed: sealed.toString("base64") };
}

/** The entropy, and the id of the key that it is sealed with. */
export function openSeed(
  folder: string,
  keys: readonly SealingKey[],
): { entropy: Uint8Array; keyId: string; createdAt: string } {
  const path = seedPath(folder);
  const seed = readSealedSeed(path);
  const key = keys.find(({ id }) => id === seed.keyId);
  if (key === undefined)
    throw new OperatorError(
      `${path} is sealed with the key ${seed.keyId}, and the key file has only ${keys.map(({ id }) => id).join(", ")}. Name the right file with --key-file.`,
    );
  const bytes = Buffer.from(seed.sealed, "base64");
  try {
    const decipher = createDecipheriv(algorithm, key.encryption, bytes.subarray(0, nonceBytes))
      .setAAD(additionalData(seed))
      .setAuthTag(bytes.subarray(-tagBytes));
    const entropy = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
    return { entropy: new Uint8Array(entropy), keyId: key.id, createdAt: seed.createdAt };
  } catch (cause) {
    throw new OperatorError(`${path} was changed. Restore it from a backup, or from the words.`, { cause });
  }
}

/** Writes the file so that a crash leaves either the old one or the new one. A first one must not replace another. */
export function writeSeed(folder: string, seed: SealedSeed): void {
  const path = seedPath(folder);
  const next = `${path}.new`;
  const file = openSync(next, "w", 0o600);
  try {
    writeSync(file, `${JSON.stringify(seed, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}

function readSealedSeed(path: string): SealedSeed {
  let seed: Partial<SealedSeed>;
  try {
    seed = JSON.parse(readFileSync(path, "utf8")) as Partial<SealedSeed>;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT")
      throw new OperatorError(`${path} does not exist. Create a seed with \`bursar-signer init\`.`, {
        cause,
      });
    throw new OperatorError(`${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  const { version, keyId, createdAt, sealed } = seed;
  const isComplete = [keyId, createdAt, sealed].every((field) => typeof field === "string");
  if (version !== 1 || !isComplete)
    throw new OperatorError(`${path} is not a sealed seed of version 1. Restore it from a backup.`);
  return seed as SealedSeed;
}

function additionalData({ version, keyId, createdAt }: Omit<SealedSeed, "sealed">): Buffer {
  return Buffer.from(`bursar signer seed\n${version}\n${keyId}\n${createdAt}`);
}
