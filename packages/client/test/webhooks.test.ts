import {
  type Notification,
  type ReceivedWebhook,
  signTestWebhook,
  verifyWebhook,
  type WebhookError,
  type WebhookFault,
} from "@bursar/client/webhooks";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const other = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const nowMs = 1_800_000_000_000;
const body = {
  event: "transaction.updated",
  delivery_id: "dlv_1",
  sequence: 4,
  occurred_at: "2026-11-16T00:00:00Z",
  actor: { type: "service", client_id: null },
  data: { transaction: { id: "tx_1", version: 2, state: "completed" }, previous_state: "accepted" },
} as unknown as Notification;

const sign = (secrets = [secret], content: Notification = body) =>
  signTestWebhook({ body: content, secrets, nowMs });

function verify(received: Partial<ReceivedWebhook> & Pick<ReceivedWebhook, "headers" | "rawBody">) {
  return verifyWebhook({ secrets: [secret], nowMs, ...received });
}

async function reasonOf(work: Promise<unknown>): Promise<WebhookFault | "verified"> {
  return await work.then(
    () => "verified" as const,
    (error: WebhookError) => error.reason,
  );
}

const without = (headers: Record<string, string>, ...names: string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

describe("verifyWebhook", () => {
  it("returns the typed body", async () => {
    const notification = await verify(await sign());
    if (notification.event !== "transaction.updated") throw new Error("another event");
    expect(notification.data.transaction.state).toBe("completed");
  });

  it("takes headers of fetch, of Node and in any case, and bytes as well as strings", async () => {
    const { headers, rawBody } = await sign();
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    const bytes = new TextEncoder().encode(rawBody);
    for (const given of [headers, upper, new Headers(headers)])
      for (const raw of [rawBody, bytes, bytes.buffer, Buffer.from(bytes)])
        expect((await verify({ headers: given, rawBody: raw })).delivery_id).toBe("dlv_1");
  });

  it("needs only one of the two kinds of signatures", async () => {
    const { headers, rawBody } = await sign();
    const standard = without(headers, "signature", "signature-input", "content-digest");
    expect(await reasonOf(verify({ headers: standard, rawBody }))).toBe("verified");
    expect(await reasonOf(verify({ headers: without(headers, "webhook-signature"), rawBody }))).toBe(
      "verified",
    );
  });

  it("verifies either secret during a rotation, on either side", async () => {
    const both = await sign([other, secret]);
    expect(await reasonOf(verify(both))).toBe("verified");
    const { headers, rawBody } = await sign([other]);
    expect(await reasonOf(verify({ headers, rawBody, secrets: [secret, other] }))).toBe("verified");
    const messageOnly = { headers: without(both.headers, "webhook-signature"), rawBody: both.rawBody };
    expect(await reasonOf(verify(messageOnly))).toBe("verified");
    expect(await reasonOf(verify({ headers, rawBody }))).toBe("no_matching_signature");
  });

  it("agrees with the library of Standard Webhooks", async () => {
    const { headers, rawBody } = await signTestWebhook({ body, secrets: [secret] });
    expect(new Webhook(secret).verify(rawBody, headers)).toEqual(body);
    const theirs = new Webhook(secret).sign("dlv_1", new Date(nowMs), rawBody);
    const own = {
      ...without(headers, "signature"),
      "webhook-timestamp": `${nowMs / 1000}`,
      "webhook-signature": theirs,
    };
    expect(await reasonOf(verify({ headers: own, rawBody }))).toBe("verified");
  });

  it.each<[string, WebhookFault, (signed: { headers: Record<string, string>; rawBody: string }) => object]>([
    ["no id", "missing_header", ({ headers }) => ({ headers: without(headers, "webhook-id") })],
    ["no time", "missing_header", ({ headers }) => ({ headers: without(headers, "webhook-timestamp") })],
    [
      "no signature",
      "missing_header",
      ({ headers }) => ({ headers: without(headers, "webhook-signature", "signature") }),
    ],
    [
      "a time that is none",
      "malformed",
      ({ headers }) => ({ headers: { ...headers, "webhook-timestamp": "1e9" } }),
    ],
    ["an old time", "too_old", () => ({ nowMs: nowMs + 301_000 })],
    ["a future time", "from_the_future", () => ({ nowMs: nowMs - 301_000 })],
    [
      "another body",
      "no_matching_signature",
      ({ rawBody }) => ({ rawBody: rawBody.replace("completed", "cancelled") }),
    ],
    [
      "another id",
      "no_matching_signature",
      ({ headers }) => ({ headers: { ...headers, "webhook-id": "dlv_2" } }),
    ],
    [
      "another time",
      "no_matching_signature",
      ({ headers }) => ({ headers: { ...headers, "webhook-timestamp": `${nowMs / 1000 - 1}` } }),
    ],
    ["a parsed body", "body_already_parsed", ({ rawBody }) => ({ rawBody: JSON.parse(rawBody) })],
    ["no body", "body_already_parsed", () => ({ rawBody: undefined })],
    [
      "a secret without prefix",
      "malformed_secret",
      () => ({ secrets: ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] }),
    ],
    ["a short secret", "malformed_secret", () => ({ secrets: ["whsec_AAAA"] })],
  ])("%s is refused: %s", async (_name, reason, damage) => {
    const signed = await sign();
    expect(await reasonOf(verify({ ...signed, ...damage(signed) }))).toBe(reason);
  });

  it("signed content that is no webhook is malformed", async () => {
    const faulty = [
      { ...body, event: 5 },
      { ...body, sequence: "4" },
      { ...body, data: null },
    ];
    for (const content of faulty)
      expect(await reasonOf(verify(await sign([secret], content as unknown as Notification)))).toBe(
        "malformed",
      );
  });

  it("200 deliveries with one damaged byte are refused", async () => {
    const { headers, rawBody } = await sign();
    const onlyStandard = without(headers, "signature", "signature-input", "content-digest");
    for (let at = 0; at < 200; at++) {
      const bytes = new TextEncoder().encode(rawBody);
      bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ (1 + (at % 7));
      const given = at % 2 === 0 ? headers : onlyStandard;
      expect(await reasonOf(verify({ headers: given, rawBody: bytes }))).toBe("no_matching_signature");
    }
  });

  it("a signature of RFC 9421 that does not cover the body, the id and the time counts for nothing", async () => {
    const { headers, rawBody } = await sign();
    const message = without(headers, "webhook-signature");
    for (const part of ["content-digest", "webhook-id", "webhook-timestamp"]) {
      const input = (message["signature-input"] ?? "").replace(`"${part}"`, '"content-type"');
      expect(await reasonOf(verify({ headers: { ...message, "signature-input": input }, rawBody }))).toBe(
        "no_matching_signature",
      );
    }
  });

  it("headers that are long or strange are refused in bounded time", async () => {
    const { headers, rawBody } = await sign();
    const bare = without(headers, "webhook-signature");
    const strange = [
      'sig1=("a',
      `sig1=(${'"a" '.repeat(5000)})`,
      "=".repeat(100_000),
      'sig1=();created=1, sig1=("@method")',
    ];
    for (const input of strange)
      expect(await reasonOf(verify({ headers: { ...bare, "signature-input": input }, rawBody }))).toBe(
        "no_matching_signature",
      );
    const many = {
      ...without(headers, "signature"),
      "webhook-signature": `${"v1,AAAA ".repeat(1000)}${headers["webhook-signature"]}`,
    };
    expect(await reasonOf(verify({ headers: many, rawBody }))).toBe("no_matching_signature");
  });
});
