import { createHash, createHmac } from "node:crypto";
import { createVerifier, httpbis } from "http-message-signatures";
import { describe, expect, it } from "vitest";
import type { WebhookHashes } from "./webhook-hashes.js";
import { signWebhookMessage, verifyWebhookMessage } from "./webhook-message.js";
import { webhookKeyId } from "./webhook-secret.js";

const hashes: WebhookHashes = {
  sha256: (text) => createHash("sha256").update(text).digest("base64"),
  hmacSha256: (secret, text) => createHmac("sha256", secret).update(text).digest("base64"),
};
const secret = Uint8Array.from({ length: 32 }, (_, index) => index);
const other = Uint8Array.from({ length: 32 }, (_, index) => 255 - index);
const timestampSeconds = 1_700_000_000;
const clock = { nowSeconds: timestampSeconds + 5, toleranceSeconds: 300 };
const body = '{"event":"transaction.updated","note":"größer"}';

const keyOf = (one: Uint8Array) => ({ keyId: webhookKeyId(one, hashes), secret: one });
const { keyId } = keyOf(secret);

function signed(secrets: Uint8Array[], at = timestampSeconds): Record<string, string> {
  return {
    "webhook-id": "dlv_1",
    "webhook-timestamp": String(at),
    ...signWebhookMessage({ id: "dlv_1", timestampSeconds: at, body, keys: secrets.map(keyOf) }, hashes),
  };
}

describe("the message signature of a webhook", () => {
  it("covers the digest, the id and the time, and names the secret", () => {
    const digest = createHash("sha256").update(body).digest("base64");
    const headers = signed([secret]);
    expect(headers).toMatchObject({
      "content-digest": `sha-256=:${digest}:`,
      "signature-input": `sig1=("content-digest" "webhook-id" "webhook-timestamp");created=1700000000;keyid="${keyId}";alg="hmac-sha256"`,
    });
    const base = [
      `"content-digest": sha-256=:${digest}:`,
      '"webhook-id": dlv_1',
      '"webhook-timestamp": 1700000000',
      `"@signature-params": ("content-digest" "webhook-id" "webhook-timestamp");created=1700000000;keyid="${keyId}";alg="hmac-sha256"`,
    ].join("\n");
    const expected = createHmac("sha256", secret).update(base).digest("base64");
    expect(headers["signature"]).toBe(`sig1=:${expected}:`);
  });

  it("has one label for each live secret", () => {
    const headers = signed([other, secret]);
    expect(headers["signature-input"]).toMatch(/^sig1=\(.*, sig2=\(/);
    expect(headers["signature"]).toMatch(/^sig1=:[^:]+:, sig2=:[^:]+:$/);
  });

  /** Looks up only this secret, as a receiver that knows no other. */
  const verifyWith = (only: Uint8Array, headers: Record<string, string>) => {
    const { keyId: id } = keyOf(only);
    const verify = createVerifier(Buffer.from(only), "hmac-sha256");
    return httpbis.verifyMessage(
      {
        keyLookup: async ({ keyid }) =>
          keyid === id ? { id, algs: ["hmac-sha256" as const], verify } : null,
        requiredFields: ["content-digest", "webhook-id", "webhook-timestamp"],
      },
      { method: "POST", url: "https://receiver.example/", headers },
    );
  };
  const now = () => Math.floor(Date.now() / 1000);

  it("is verified by a public library, which refuses it when a header has changed", async () => {
    const headers = signed([secret], now());
    expect(await verifyWith(secret, headers)).toBe(true);
    const changed = { ...headers, "webhook-id": "dlv_2" };
    expect(await verifyWith(secret, changed).catch(() => false)).toBe(false);
  });

  it("is verified by that library with either secret during a rotation", async () => {
    const headers = signed([other, secret], now());
    expect(await verifyWith(secret, headers)).toBe(true);
    expect(await verifyWith(other, headers)).toBe(true);
  });
});

describe("verifying a webhook's message signature", () => {
  it.each([
    ["the new secret", [other]],
    ["the old one", [secret]],
    ["both", [secret, other]],
  ])("works during a rotation with %s", (_which, secrets) => {
    const received = { headers: signed([other, secret]), body, secrets };
    expect(verifyWebhookMessage(received, clock, hashes)).toEqual({ verified: true });
  });

  const good = signed([secret]);
  const uncovered = good["signature-input"]?.replace(' "webhook-id"', "");
  it.each([
    ["another body", { body: `${body} ` }],
    ["another secret", { secrets: [other] }],
    ["another id", { headers: { ...good, "webhook-id": "dlv_2" } }],
    ["another time", { headers: { ...good, "webhook-timestamp": String(timestampSeconds + 1) } }],
    ["a time that is too old", { headers: signed([secret], timestampSeconds - 600) }],
    ["no headers", { headers: {} }],
    ["no digest", { headers: { ...good, "content-digest": undefined } }],
    ["a digest of another kind alone", { headers: { ...good, "content-digest": "md5=:AAAA:" } }],
    ["another label", { headers: { ...good, signature: good["signature"]?.replace("sig1", "sig9") } }],
    ["a signature that does not cover the id", { headers: { ...good, "signature-input": uncovered } }],
    ["malformed headers", { headers: { ...good, "signature-input": "(((" } }],
  ])("refuses %s", (_what, changed) => {
    const received = { headers: good, body, secrets: [secret], ...changed };
    expect(verifyWebhookMessage(received, clock, hashes).verified).toBe(false);
  });

  it("refuses a signature over less, though it is by the right secret", () => {
    const params = `("webhook-timestamp");created=${timestampSeconds};keyid="${keyId}"`;
    const base = `"webhook-timestamp": ${timestampSeconds}\n"@signature-params": ${params}`;
    const headers = {
      ...good,
      "signature-input": `sig1=${params}`,
      signature: `sig1=:${hashes.hmacSha256(secret, base)}:`,
    };
    expect(verifyWebhookMessage({ headers, body, secrets: [secret] }, clock, hashes).verified).toBe(false);
  });
});
