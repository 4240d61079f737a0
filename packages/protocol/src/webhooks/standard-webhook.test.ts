import { createHash, createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signStandardWebhook, verifyStandardWebhook } from "./standard-webhook.js";
import type { WebhookHashes } from "./webhook-hashes.js";
import { formatWebhookSecret, parseWebhookSecret } from "./webhook-secret.js";

const hashes: WebhookHashes = {
  sha256: (text) => createHash("sha256").update(text).digest("base64"),
  hmacSha256: (secret, text) => createHmac("sha256", secret).update(text).digest("base64"),
};
const written = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const secret = parseWebhookSecret(written) ?? new Uint8Array();
const other = Uint8Array.from({ length: 32 }, (_, index) => index);
const vector = {
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestampSeconds: 1_614_265_330,
  body: '{"test": 2432232314}',
};
const clock = { nowSeconds: vector.timestampSeconds + 10, toleranceSeconds: 300 };
const received = {
  id: vector.id,
  timestamp: String(vector.timestampSeconds),
  body: vector.body,
  signature: signStandardWebhook({ ...vector, secrets: [secret] }, hashes),
  secrets: [secret],
};

describe("a Standard Webhooks signature", () => {
  it("is that of the specification's own example", () => {
    expect(received.signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("is there once for each live secret", () => {
    const both = signStandardWebhook({ ...vector, secrets: [other, secret] }, hashes).split(" ");
    expect(both).toHaveLength(2);
    expect(both[1]).toBe(received.signature);
  });

  it.each([
    ["the new secret", other],
    ["the old one", secret],
  ])("is verified by the public library during a rotation with %s", (_which, known) => {
    const body = '{"note":"größer – 数"}';
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const signature = signStandardWebhook(
      { ...vector, timestampSeconds, body, secrets: [other, secret] },
      hashes,
    );
    const headers = {
      "webhook-id": vector.id,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signature,
    };
    const library = new Webhook(formatWebhookSecret(known));
    expect(library.verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => library.verify(`${body} `, headers)).toThrow();
  });
});

describe("verifying a Standard Webhooks signature", () => {
  it("takes what was signed, by any of the known secrets", () => {
    expect(verifyStandardWebhook({ ...received, secrets: [other, secret] }, clock, hashes)).toEqual({
      verified: true,
    });
  });

  it("finds the good signature among others and versions that it does not know", () => {
    const signature = `v1a,AAAA v1,AAAA ${received.signature}`;
    expect(verifyStandardWebhook({ ...received, signature }, clock, hashes).verified).toBe(true);
  });

  it.each([
    ["another body", { body: `${vector.body} ` }],
    ["another id", { id: "msg_other" }],
    ["another time", { timestamp: String(vector.timestampSeconds + 1) }],
    ["another secret", { secrets: [other] }],
    ["no secret at all", { secrets: [] }],
    ["no signature", { signature: "" }],
    ["an empty signature", { signature: "v1," }],
    ["a signature of another version", { signature: received.signature.replace("v1,", "v2,") }],
    ["the beginning of the signature", { signature: received.signature.slice(0, -4) }],
    ["a time that is no number", { timestamp: "yesterday" }],
    [
      "a good signature behind too many others",
      { signature: `${"v1,AAAA ".repeat(10)}${received.signature}` },
    ],
  ])("refuses %s", (_what, changed) => {
    expect(verifyStandardWebhook({ ...received, ...changed }, clock, hashes).verified).toBe(false);
  });

  it.each([
    [-301, false],
    [-300, true],
    [300, true],
    [301, false],
  ])("at %i s from the time of signing says %s", (distance, isVerified) => {
    const nowSeconds = vector.timestampSeconds + distance;
    expect(verifyStandardWebhook(received, { ...clock, nowSeconds }, hashes).verified).toBe(isVerified);
  });
});
