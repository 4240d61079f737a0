import { describe, expect, it } from "vitest";
import { formatWebhookSecret, parseWebhookSecret } from "./webhook-secret.js";

const text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("a webhook secret", () => {
  it("is read and written in the same form", () => {
    const bytes = parseWebhookSecret(text);
    expect(bytes).toHaveLength(24);
    expect(formatWebhookSecret(bytes ?? new Uint8Array())).toBe(text);
  });

  it.each([24, 25, 26, 32, 64])("may have %i bytes", (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => 255 - index);
    expect(parseWebhookSecret(formatWebhookSecret(bytes))).toEqual(bytes);
  });

  it.each([
    ["nothing", ""],
    ["no prefix", text.slice(6)],
    ["another prefix", text.replace("whsec", "WHSEC")],
    ["a prefix alone", "whsec_"],
    ["too few bytes", formatWebhookSecret(new Uint8Array(23))],
    ["too many bytes", formatWebhookSecret(new Uint8Array(65))],
    ["base64url", text.replace("r8", "-_")],
    ["a space", `${text} `],
    ["missing padding", formatWebhookSecret(new Uint8Array(25)).replace(/=+$/, "")],
    ["bits that belong to no byte", formatWebhookSecret(new Uint8Array(25)).replace("A==", "B==")],
  ])("is not %s", (_what, wrong) => {
    expect(parseWebhookSecret(wrong)).toBeUndefined();
  });
});
