import type { ClientKey } from "../clients/client.js";

/** A passkey as it is stored, as JSON in the material of a key of the client. Bytes are in base64url. */
export interface Passkey {
  credentialId: string;
  /** COSE. */
  publicKey: string;
  counter: number;
  name: string;
}

/** What an authenticator has signed. Bytes are in base64url. */
export interface Assertion {
  id: string;
  client_data: string;
  authenticator_data: string;
  signature: string;
}

/** What an authenticator answers when it has made a passkey. */
export interface Attestation {
  id: string;
  client_data: string;
  attestation_object: string;
}

export interface PasskeyVerifier {
  /** The credential, if it was made for this challenge, on one of our pages, by a user who was verified. */
  verifyRegistration: (
    attestation: Attestation,
    isChallenge: (challenge: string) => boolean,
  ) => Promise<Pick<Passkey, "credentialId" | "publicKey" | "counter"> | undefined>;
  /** The new counter, if the passkey has signed this challenge, on one of our pages, for a user who was verified. */
  verifyAssertion: (
    assertion: Assertion,
    isChallenge: (challenge: string) => boolean,
    passkey: Passkey,
  ) => Promise<{ counter: number } | undefined>;
}

export function readPasskey({ material }: Pick<ClientKey, "material">): Passkey {
  return JSON.parse(Buffer.from(material).toString("utf8")) as Passkey;
}

export function writePasskey(passkey: Passkey): Uint8Array {
  return Buffer.from(JSON.stringify(passkey));
}

/** The passkey with this credential id. */
export function findPasskey(keys: readonly ClientKey[], credentialId: string) {
  for (const key of keys) {
    if (key.algorithm !== "passkey") continue;
    const passkey = readPasskey(key);
    if (passkey.credentialId === credentialId) return { key, passkey };
  }
  return undefined;
}

/** A passkey as a key of its person. */
export function newPasskeyKey(
  { newUuid, now }: { newUuid: () => string; now: () => number },
  personId: string,
  material: Uint8Array,
): ClientKey {
  return {
    ...{ id: newUuid(), algorithm: "passkey", material, addedBy: personId },
    ...{ expiresAt: null, lastUsedAt: null, createdAt: new Date(now()) },
  };
}

export const passkeysMax = 10;
