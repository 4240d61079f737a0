import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from "node:crypto";
import type { MessageSignatureTarget } from "../target/target.js";
import { type MessageSignature, type SignedMessage, signatureBase } from "./message-signature.js";

/** Whether the signature was made over what arrived, with this secret or the public key of the target file. */
export function verifyMessage(
  target: MessageSignatureTarget,
  secret: string,
  one: MessageSignature,
  message: SignedMessage,
): boolean {
  const base = signatureBase(one.covered, one.params, message);
  if (base === undefined) return false;
  const algorithm = one.parameters.get("alg");
  if (algorithm !== undefined && algorithm !== target.algorithm) return false;
  if (target.algorithm === "ed25519") return verifyEd25519(target.publicKey ?? "", base, one.signature);
  const bare = secret.startsWith(target.secretPrefix) ? secret.slice(target.secretPrefix.length) : secret;
  const key = target.secretEncoding === "base64" ? Buffer.from(bare, "base64") : Buffer.from(bare);
  const expected = createHmac("sha256", key).update(base).digest();
  return expected.length === one.signature.length && timingSafeEqual(expected, one.signature);
}

function verifyEd25519(publicKey: string, base: string, signature: Buffer): boolean {
  try {
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
    return verify(null, Buffer.from(base), key, signature);
  } catch {
    return false;
  }
}

const digestNames = { "sha-256": "sha256", "sha-512": "sha512" } as const;

/** Whether `Content-Digest` (RFC 9530) has the digest of the body; undefined if it has none that the kit knows. */
export function matchesDigest(contentDigest: string, body: Buffer): boolean | undefined {
  const known = [...contentDigest.matchAll(/(sha-256|sha-512)=:([A-Za-z0-9+/=]*):/g)];
  if (known.length === 0) return undefined;
  return known.every(([, name, text]) => {
    const expected = createHash(digestNames[name as keyof typeof digestNames])
      .update(body)
      .digest("base64");
    return expected === text;
  });
}
