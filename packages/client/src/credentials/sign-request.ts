import { toBase64 } from "../encoding/base64.js";
import { sha256 } from "../encoding/hashes.js";
import type { OutgoingRequest } from "../transport/exchange.js";
import { randomKey } from "../transport/random-key.js";
import type { Sign } from "./private-key.js";

const lifetimeSeconds = 60;
/** Covered if the request has them. */
const coveredHeaders = ["authorization", "content-digest", "idempotency-key", "if-match"];

/** Signs a request as the service requires it (RFC 9421, RFC 9530). Each signature has a nonce of its own, so every attempt is signed again. */
export async function signRequest(
  request: OutgoingRequest,
  { keyId, sign, nowMs }: { keyId: string; sign: Sign; nowMs: number },
): Promise<OutgoingRequest> {
  const { method, url, body } = request;
  const headers = { ...request.headers };
  if (body !== undefined) headers["content-digest"] = `sha-256=:${toBase64(await sha256(body))}:`;
  const covered: [string, string][] = [
    ["@method", method],
    ["@target-uri", url],
    ...coveredHeaders.flatMap((name): [string, string][] => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ];
  const created = Math.floor(nowMs / 1000);
  const params =
    `(${covered.map(([name]) => `"${name}"`).join(" ")});created=${created};expires=${created + lifetimeSeconds}` +
    `;nonce="${randomKey()}";keyid="${keyId}";tag="bursar-v1"`;
  const lines = [...covered, ["@signature-params", params]].map(([name, value]) => `"${name}": ${value}`);
  const signature = toBase64(await sign(lines.join("\n")));
  return {
    ...request,
    headers: { ...headers, "signature-input": `sig1=${params}`, signature: `sig1=:${signature}:` },
  };
}
