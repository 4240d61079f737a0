import { BursarError } from "../errors/bursar-error.js";

/** A secret of a client, as it was shown when it was created. Never put one into a web page. */
export interface SecretCredentials {
  clientId: string;
  secret: string;
}

/** An Ed25519 key that is registered for a client. Every request is signed with it. */
export interface KeyCredentials {
  clientId: string;
  /** The id that the service gave the public key. */
  keyId: string;
  /** PEM (PKCS #8), a JWK, or a `CryptoKey` that can sign. */
  privateKey: string | Ed25519Jwk | SigningCryptoKey;
}

export interface Ed25519Jwk {
  kty: "OKP";
  crv: "Ed25519";
  d: string;
  x: string;
}

/** A `CryptoKey`, which not every type library declares. */
export interface SigningCryptoKey {
  readonly type: string;
  readonly algorithm: object;
  readonly extractable: boolean;
  readonly usages: readonly string[];
}

export interface SuppliedToken {
  token: string;
  /** Without it the function is called for every request. */
  expiresInSeconds?: number;
}

/** A function that returns a token, such as one that asks your own server. */
export type TokenFunction = () => SuppliedToken | string | Promise<SuppliedToken | string>;

export type Credentials = SecretCredentials | KeyCredentials | TokenFunction;

export function isKey(credentials: Credentials): credentials is KeyCredentials {
  return typeof credentials === "object" && "privateKey" in credentials;
}

export function credentialsInvalid(message: string): BursarError<"CREDENTIALS_INVALID"> {
  return new BursarError({ code: "CREDENTIALS_INVALID", message, outcome: "not_sent", attempts: 0 });
}

/** Refuses credentials that are malformed, or that anybody could read here. */
export function checkCredentials(credentials: Credentials): void {
  if (typeof credentials === "function") return;
  if (typeof credentials !== "object" || credentials === null || typeof credentials.clientId !== "string")
    throw credentialsInvalid(
      "credentials must be a client id with a secret or a key, or a function that returns a token.",
    );
  const isOpaqueKey =
    isKey(credentials) && isCryptoKey(credentials.privateKey) && !credentials.privateKey.extractable;
  if (isBrowser() && !isOpaqueKey)
    throw credentialsInvalid(
      "A secret in a web page can be read by everybody who opens it. Keep it on your server, and pass a function that asks your server for a token.",
    );
  if (!isKey(credentials) && (typeof credentials.secret !== "string" || credentials.secret === ""))
    throw credentialsInvalid("credentials.secret must be the secret of the client.");
  if (
    isKey(credentials) &&
    (typeof credentials.keyId !== "string" || !/^[\w.-]{1,128}$/.test(credentials.keyId))
  )
    throw credentialsInvalid("credentials.keyId must be the id of the registered key.");
}

export function isCryptoKey(key: KeyCredentials["privateKey"]): key is SigningCryptoKey {
  return typeof key === "object" && "usages" in key;
}

/** A page or a worker of one. Node with a simulated page is not one. */
function isBrowser(): boolean {
  const { process, document, importScripts } = globalThis as {
    process?: { versions?: { node?: string } };
    document?: unknown;
    importScripts?: unknown;
  };
  return (
    process?.versions?.node === undefined && (document !== undefined || typeof importScripts === "function")
  );
}
