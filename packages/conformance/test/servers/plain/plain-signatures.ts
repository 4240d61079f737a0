import { createHash, createHmac, createPublicKey, randomUUID, verify } from "node:crypto";
import { PlainRefusal } from "./plain-errors.js";
import type { Has, PlainAnswer, PlainRequest } from "./plain-server.js";

export interface PlainSecret {
  readonly keyId: string;
  readonly secret: Buffer;
}

const tag = "plain-v1";

/** The headers of a notification by RFC 9421, with a signature for each secret that is in use. */
export function signNotification(
  has: Has,
  { id, body, secrets }: { id: string; body: string; secrets: readonly PlainSecret[] },
): Record<string, string> {
  const bytes = has("digest-of-other-bytes") ? `${body} ` : body;
  const digest = `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
  const seconds = Math.floor(Date.now() / 1000) * (has("created-in-milliseconds") ? 1000 : 1);
  const covered = has("digest-not-covered") ? ["webhook-id"] : ["content-digest", "webhook-id"];
  const values: Record<string, string> = { "content-digest": digest, "webhook-id": id };
  const used = has("rotation-drops-old-key") ? secrets.slice(-1) : secrets;
  const signed = used.map(({ keyId, secret }, at) => {
    const shown = has("keyid-unknown") ? "key_unknown" : keyId;
    const list = covered.map((name) => `"${name}"`).join(" ");
    const marked = has("message-tag-missing") ? "" : `;tag="${tag}"`;
    const params = `(${list});created=${seconds};keyid="${shown}";alg="hmac-sha256"${marked}`;
    const lines = covered.map((name) => `"${name}": ${values[name]}`);
    const base = [...lines, `"@signature-params": ${params}`].join(
      has("message-signed-wrongly") ? "\r\n" : "\n",
    );
    const signature = createHmac("sha256", secret).update(base).digest("base64");
    return { input: `sig${at}=${params}`, signature: `sig${at}=:${signature}:` };
  });
  if (has("no-message-signature")) return { "content-digest": digest };
  return {
    "content-digest": digest,
    "signature-input": signed.map(({ input }) => input).join(", "),
    signature: signed.map(({ signature }) => signature).join(", "),
  };
}

/** Keys of clients that sign their requests. A request without a signature is not looked at. */
export function createPlainSignatures(has: Has) {
  const keys = new Map<string, string>();
  const nonces = new Set<string>();
  const refuse = (message: string) => {
    throw new PlainRefusal(401, "SIGNATURE_INVALID", message);
  };

  const check = ({ method, path, headers, body }: PlainRequest) => {
    const input = /^sig1=(\(([^)]*)\)(.*))$/.exec(String(headers["signature-input"] ?? ""));
    if (input === null) return;
    const [, params = "", list = "", parameters = ""] = input;
    const parameter = (name: string) => new RegExp(`;${name}="?([^";]*)"?`).exec(parameters)?.[1] ?? "";
    const covered = list.split(" ").map((name) => name.slice(1, -1));
    if (has("signed-request-refused") || parameter("tag") !== tag) refuse("The tag is not known.");
    if (!covered.includes("content-digest") && !has("uncovered-digest-accepted"))
      refuse("Too little is covered.");
    if (Number(parameter("expires")) * 1000 < Date.now() && !has("expired-signature-accepted"))
      refuse("The signature has expired.");
    const nonce = parameter("nonce");
    if (nonces.has(nonce) && !has("nonce-accepted-twice")) refuse("The nonce was used before.");
    nonces.add(nonce);
    const digest = `sha-256=:${createHash("sha256").update(body).digest("base64")}:`;
    if (headers["content-digest"] !== digest && !has("altered-body-accepted")) refuse("The digest differs.");
    const derived: Record<string, string> = {
      "@method": method,
      "@target-uri": `http://${headers.host}${path}`,
    };
    const lines = covered.map((name) => `"${name}": ${derived[name] ?? String(headers[name])}`);
    const base = [...lines, `"@signature-params": ${params}`].join("\n");
    const signature = /^sig1=:(.*):$/.exec(String(headers["signature"]))?.[1] ?? "";
    const x = keys.get(parameter("keyid")) ?? "";
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    const isValid = verify(null, Buffer.from(base), key, Buffer.from(signature, "base64"));
    if (!isValid && !has("wrong-key-accepted")) refuse("The signature does not verify.");
  };

  const answer = ({ method, path, body }: PlainRequest): PlainAnswer | undefined => {
    if (path === "/v1/keys" && method === "POST") {
      const id = `key_${randomUUID()}`;
      keys.set(id, (JSON.parse(body) as { public_key: string }).public_key);
      return { status: 201, body: { id } };
    }
    if (path.startsWith("/v1/keys/") && method === "DELETE")
      return { status: keys.delete(path.slice(9)) ? 200 : 404, body: {} };
    return undefined;
  };
  return { check, answer };
}
