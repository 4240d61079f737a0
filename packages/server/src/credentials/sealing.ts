import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Keyring } from "./keyring.js";

/**
 * Encrypts secrets for the database with a key derived from the master key (AES-256-GCM). The context, such as a key's id, is
 * authenticated too, so that an encrypted secret cannot be moved to another row.
 */
export interface Sealing {
  keyring: Keyring;
  /** Encrypts with the current master key. */
  seal: (context: string, secret: Uint8Array) => Uint8Array;
  /** Undefined if it was encrypted with a master key that is not listed, or for another context. */
  open: (context: string, sealed: Uint8Array) => Uint8Array | undefined;
  /** Whether the seal is that of the current master key and of the current format. */
  isCurrent: (sealed: Uint8Array) => boolean;
  /** Derives a key for one purpose from the current master key. */
  deriveKey: (purpose: string) => Uint8Array;
}

/** The first version names no key and encrypts with the master key itself. It is read until it was resealed. */
const oldVersion = 1;
const version = 2;
const sealLabel = "seal";
const keyIdLength = 8;
const nonceLength = 12;
const tagLength = 16;
const oldHeaderLength = 1;
const headerLength = 1 + keyIdLength;

/** A seal is a version, the id of its master key, a nonce, a tag and the ciphertext. */
export function createSealing(keyring: Keyring): Sealing {
  const { current } = keyring;
  const header = Buffer.concat([Uint8Array.of(version), Buffer.from(current.id, "hex")]);
  return {
    keyring,
    seal: (context, secret) => {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", current.derive(sealLabel), nonce);
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([header, nonce, cipher.getAuthTag(), sealed]);
    },
    open: (context, sealed) => {
      if (sealed[0] === version) {
        const keyId = Buffer.from(sealed.subarray(1, headerLength)).toString("hex");
        const key = keyring.derive(sealLabel, keyId);
        return key && decrypt(key, context, sealed.subarray(headerLength));
      }
      if (sealed[0] !== oldVersion) return undefined;
      for (const { material } of keyring.all) {
        const opened = decrypt(material, context, sealed.subarray(oldHeaderLength));
        if (opened !== undefined) return opened;
      }
      return undefined;
    },
    isCurrent: (sealed) => header.equals(sealed.subarray(0, headerLength)),
    deriveKey: (purpose) => keyring.derive(purpose),
  };
}

function decrypt(key: Uint8Array, context: string, body: Uint8Array): Uint8Array | undefined {
  if (body.length < nonceLength + tagLength) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, nonceLength), {
    authTagLength: tagLength,
  });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(body.subarray(nonceLength, nonceLength + tagLength));
  try {
    return Buffer.concat([decipher.update(body.subarray(nonceLength + tagLength)), decipher.final()]);
  } catch {
    return undefined;
  }
}
