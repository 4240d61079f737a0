import { toBase64Url } from "../encoding/base64.js";
import { randomKey } from "../transport/random-key.js";
import type { Sign } from "./private-key.js";

const lifetimeSeconds = 60;

/** Authenticates a client by a JWT that its key has signed (RFC 7523). Each may be used once. */
export async function clientAssertion(
  { clientId, keyId, audience, nowMs }: { clientId: string; keyId: string; audience: string; nowMs: number },
  sign: Sign,
): Promise<Record<string, string>> {
  const now = Math.floor(nowMs / 1000);
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    jti: randomKey(),
    iat: now,
    exp: now + lifetimeSeconds,
  };
  const content = `${encode({ alg: "EdDSA", typ: "JWT", kid: keyId })}.${encode(claims)}`;
  return {
    client_id: clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: `${content}.${toBase64Url(await sign(content))}`,
  };
}

function encode(part: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(part)));
}
