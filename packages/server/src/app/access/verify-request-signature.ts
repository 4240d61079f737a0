import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import {
  findLabel,
  type MessageSignature,
  readContentDigest,
  readId,
  readSignature,
  requestSignature,
  requiredComponents,
  type SignedMessage,
  showId,
  signatureBase,
} from "@bursar/protocol";
import { type ApiClient, type ClientKey, isLive } from "../clients/client.js";
import type { CredentialUses } from "../clients/credential-uses.js";
import type { Refused } from "../requests/refused.js";
import type { NonceStore } from "./authenticate-client.js";

/** A request with the raw bytes of its body. */
export interface SignedRequest extends SignedMessage {
  body: Uint8Array | undefined;
}

export interface VerifyRequestSignatureDeps {
  nonces: NonceStore;
  uses: Pick<CredentialUses, "record">;
  /** Decrypts the shared secret of an HMAC key. */
  openSecret: (key: ClientKey) => Uint8Array;
  now: () => number;
}

/** A signature that was verified, with what is needed to verify it again. */
export interface VerifiedSignature {
  key: ClientKey;
  /** The value of `@signature-params`. */
  params: string;
  signature: Uint8Array;
  /** The signature base. It contains the access token. */
  base: string;
  body: Uint8Array;
}

/** Verifies the signature of a request (RFC 9421 with the profile of Bursar); undefined if there is none and none is needed. */
export function createRequestSignatureVerifier(deps: VerifyRequestSignatureDeps) {
  return async (
    request: SignedRequest,
    client: ApiClient,
  ): Promise<Refused | VerifiedSignature | undefined> => {
    const input = request.header("signature-input");
    const value = request.header("signature");
    const unsigned: Refused | undefined = client.requireSignature
      ? { refused: "SIGNATURE_REQUIRED" }
      : undefined;
    if (input === undefined && value === undefined) return unsigned;
    const signing = client.keys.filter(({ algorithm }) => algorithm !== "passkey");
    const keyIds = signing.map(({ id }) => showId("key", id));
    const found = findLabel(input ?? "", requestSignature.tag, keyIds);
    if (found.label === undefined) return found.fault === undefined ? unsigned : invalid(found.fault);
    const signature = readSignature(input ?? "", value ?? "", found.label);
    if (signature === undefined)
      return invalid(`The signature with the label ${found.label} is not well-formed.`);
    const fault = findFault(signature, request, deps.now());
    if (fault !== undefined) return invalid(fault);
    const keyId = readId("key", signature.keyid ?? "");
    const key = signing.find((candidate) => candidate.id === keyId);
    if (key === undefined || !isLive(key, deps.now()))
      return invalid("The client has no key with this keyid.");
    if (signature.alg !== undefined && signature.alg !== key.algorithm)
      return invalid("alg is not the algorithm of the key.");
    const base = signatureBase(signature.components, signature.params, request);
    if (base === undefined) return invalid("The request lacks a component that the signature covers.");
    if (!isSignedBy(key, base, signature.signature, deps)) return invalid(doesNotVerify(request));
    if (!matchesDigest(request)) return { refused: "DIGEST_MISMATCH" };
    // Last, so that a nonce cannot be used up without the key.
    const expiresAt = new Date((signature.expires ?? 0) * 1000);
    const isFirstUse = await deps.nonces.useNonce(client, `signature:${signature.nonce}`, expiresAt);
    if (!isFirstUse) return invalid("The nonce was used before.");
    deps.uses.record("key", key.id);
    const { params, signature: bytes } = signature;
    return { key, params, signature: bytes, base, body: request.body ?? new Uint8Array() };
  };
}

function invalid(message: string): Refused {
  return { refused: "SIGNATURE_INVALID", message };
}

/**
 * Names what the signature must be over. The usual mistake is another target: behind a proxy the service knows its address only from its
 * configuration. The caller has sent the path, and the public URL is public.
 */
function doesNotVerify({ method, targetUri }: SignedRequest): string {
  const shown = targetUri.length > targetShownMax ? `${targetUri.slice(0, targetShownMax)}…` : targetUri;
  return `The signature does not verify with this key over "@method": ${method} and "@target-uri": ${shown}`;
}

const targetShownMax = 1024;

function findFault(signature: MessageSignature, request: SignedRequest, nowMs: number): string | undefined {
  const { created, expires, nonce, tag, components } = signature;
  const { lifetimeSecondsMax, clockSkewSecondsMax, nonceLengthMin, nonceLengthMax } = requestSignature;
  const nowSeconds = Math.floor(nowMs / 1000);
  if (tag !== requestSignature.tag) return `tag must be ${requestSignature.tag}.`;
  if (created === undefined || expires === undefined) return "created and expires are required.";
  if (created > nowSeconds + clockSkewSecondsMax) return "created is in the future.";
  if (expires <= nowSeconds) return "The signature has expired.";
  if (expires <= created) return "expires must be after created.";
  if (expires - created > lifetimeSecondsMax)
    return `expires may be at most ${lifetimeSecondsMax} s after created.`;
  if (nonce === undefined || nonce.length < nonceLengthMin || nonce.length > nonceLengthMax) {
    return `A nonce of ${nonceLengthMin} to ${nonceLengthMax} characters is required.`;
  }
  const missing = requiredComponents({
    hasBody: request.body !== undefined,
    hasIdempotencyKey: request.header("idempotency-key") !== undefined,
    hasIfMatch: request.header("if-match") !== undefined,
  }).filter((name) => !components.includes(name));
  return missing.length === 0
    ? undefined
    : `The signature must cover ${missing.map((name) => `"${name}"`).join(" ")}.`;
}

function isSignedBy(
  key: ClientKey,
  base: string,
  signature: Uint8Array,
  deps: VerifyRequestSignatureDeps,
): boolean {
  switch (key.algorithm) {
    case "ed25519":
      return verify(null, Buffer.from(base), ed25519PublicKey(key.material), signature);
    case "hmac-sha256": {
      const expected = createHmac("sha256", deps.openSecret(key)).update(base).digest();
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    }
    case "passkey":
      return false;
  }
}

export function ed25519PublicKey(raw: Uint8Array) {
  return createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(raw).toString("base64url") },
    format: "jwk",
  });
}

/**
 * Whether Content-Digest (RFC 9530) matches the received bytes. A request that never had a body needs none; one that has it is compared also
 * if no body arrives, because somebody on the way could have removed an optional one.
 */
function matchesDigest({ body: received, header }: SignedRequest): boolean {
  const given = header("content-digest");
  if (received === undefined && given === undefined) return true;
  const body = received ?? new Uint8Array();
  const digests = readContentDigest(given ?? "");
  const known = [...(digests ?? [])].filter(([name]) => name === "sha-256" || name === "sha-512");
  return (
    known.length > 0 &&
    known.every(
      ([name, digest]) =>
        Buffer.compare(createHash(name.replace("-", "")).update(body).digest(), digest) === 0,
    )
  );
}
