import { fromBase64 } from "../encoding/base64.js";
import { credentialsInvalid, isCryptoKey, type KeyCredentials } from "./credentials.js";

/** Signs a string with Ed25519. */
export type Sign = (content: string) => Promise<Uint8Array>;

const algorithm = { name: "Ed25519" };

/** The key is imported once, with the first signature. */
export function createPrivateKey(given: KeyCredentials["privateKey"]): Sign {
  let importing: Promise<CryptoKey> | undefined;
  return async (content) => {
    importing ??= importKey(given);
    const bytes = new TextEncoder().encode(content);
    return new Uint8Array(await crypto.subtle.sign(algorithm, await importing, bytes));
  };
}

async function importKey(given: KeyCredentials["privateKey"]): Promise<CryptoKey> {
  if (isCryptoKey(given)) return given as CryptoKey;
  try {
    if (typeof given !== "string")
      return await crypto.subtle.importKey("jwk", { ...given }, algorithm, false, ["sign"]);
    const [, encoded] =
      /-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----/.exec(given) ?? [];
    const bytes = fromBase64((encoded ?? "").replaceAll(/\s/g, ""));
    if (bytes === undefined) throw new Error("not PEM");
    return await crypto.subtle.importKey("pkcs8", bytes, algorithm, false, ["sign"]);
  } catch {
    // The cause could show parts of the key.
    throw credentialsInvalid(
      "credentials.privateKey must be an Ed25519 key: PEM (PKCS #8), a JWK or a CryptoKey.",
    );
  }
}
