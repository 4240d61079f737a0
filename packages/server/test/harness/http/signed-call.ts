import { createHash, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { createSigner, httpbis } from "http-message-signatures";

/** A key pair of a client, and the id that the service gave its public key. */
export interface SigningKey {
  keyId: string;
  privateKey: KeyObject;
}

export function newKeyPair() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { privateKey, publicKey: String(publicKey.export({ format: "jwk" }).x) };
}

/** Posts a body with the signature of a client (RFC 9421), made by an independent library. */
export async function signedPost(
  url: string,
  token: string,
  { keyId, privateKey }: SigningKey,
  content: object,
  more: Record<string, string> = {},
) {
  const body = JSON.stringify(content);
  const request = {
    method: "POST",
    url,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-digest": `sha-256=:${createHash("sha256").update(body).digest("base64")}:`,
      ...more,
    },
  };
  const signed = await httpbis.signMessage(
    {
      key: createSigner(privateKey, "ed25519", keyId),
      name: "sig1",
      fields: ["@method", "@target-uri", "authorization", "content-digest", ...Object.keys(more)],
      params: ["created", "expires", "nonce", "keyid", "tag"],
      paramValues: {
        expires: new Date(Date.now() + 60_000),
        nonce: randomBytes(16).toString("base64url"),
        tag: "bursar-v1",
      },
    },
    request,
  );
  return await fetch(url, { method: "POST", headers: signed.headers as Record<string, string>, body });
}
