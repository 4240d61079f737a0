import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/**
 * Encrypts secrets for the database with the master key (AES-256-GCM). The context, such as a key's id, is authenticated too, so that
 * an encrypted secret cannot be moved to another row.
 */
export interface Sealing {
  seal: (context: string, secret: Uint8Array) => Uint8Array;
  /** Undefined if it was encrypted with another master key or for another context. */
  open: (context: string, sealed: Uint8Array) => Uint8Array | undefined;
  /** Derives a key for one purpose, the same in every process with this master key. */
  deriveKey: (purpose: string) => Uint8Array;
}

const formatVersion = 1;
const nonceLength = 12;
const tagLength = 16;
const derivedKeyLength = 32;
const headerLength = 1 + nonceLength + tagLength;

export function createSealing(masterKey: Uint8Array): Sealing {
  return {
    seal: (context, secret) => {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv("aes-256-gcm", masterKey, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
      return Buffer.concat([Uint8Array.of(formatVersion), nonce, cipher.getAuthTag(), sealed]);
    },
    open: (context, sealed) => {
      if (sealed.length < headerLength || sealed[0] !== formatVersion) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", masterKey, sealed.subarray(1, 1 + nonceLength), {
        authTagLength: tagLength,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(1 + nonceLength, headerLength));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headerLength)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
    deriveKey: (purpose) => new Uint8Array(hkdfSync("sha256", masterKey, "", purpose, derivedKeyLength)),
  };
}
