import { createHash, createHmac } from "node:crypto";
import { httpbis } from "http-message-signatures";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { sharedService } from "../../harness/service/shared-service.js";
import {
  ok,
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await sharedService();

/** Verifies the RFC 9421 signature of one secret, as a receiver that knows no other. */
async function verifyMessage(
  { secret, keyId }: { secret: string; keyId: string },
  headers: Record<string, string>,
): Promise<boolean | null> {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const verify = async (data: Buffer, signature: Buffer) =>
    createHmac("sha256", key).update(data).digest().equals(signature);
  return await httpbis.verifyMessage(
    {
      keyLookup: async ({ keyid }) => (keyid === keyId ? { id: keyId, algs: ["hmac-sha256"], verify } : null),
      requiredFields: ["content-digest", "webhook-id", "webhook-timestamp"],
    },
    { method: "POST", url: "https://receiver.example/", headers },
  );
}

describe("a webhook", () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.answerWith(ok));
  afterAll(async () => {
    await receiver.stop();
  });

  const tenant = async () => webhooksOf(service, await service.token(await service.createTenant("1000")));

  it("contains the transaction as of the event, with the tenant's sequence", async () => {
    const hooks = await tenant();
    await hooks.createEndpoint(`${receiver.url}/tells`);
    const id = await hooks.transact("12.50");
    const [received] = await receiver.arrived("/tells", 1);
    expect(received?.body).toEqual({
      event: "transaction.updated",
      delivery_id: expect.stringMatching(/^dlv_/),
      sequence: 1,
      occurred_at: expect.any(String),
      actor: { type: "service", client_id: null },
      data: {
        transaction: expect.objectContaining({
          id,
          state: "completed",
          version: 2,
          amount: "12.5",
          reference: "webhook",
        }),
        previous_state: "accepted",
      },
    });
    expect(Object.keys(received?.body ?? {})).toEqual([
      "event",
      "delivery_id",
      "sequence",
      "occurred_at",
      "actor",
      "data",
    ]);
  });

  it("is signed so that two public libraries verify it", async () => {
    const hooks = await tenant();
    const endpoint = await hooks.createEndpoint(`${receiver.url}/signed`);
    await hooks.transact();
    const [received] = await receiver.arrived("/signed", 1);
    if (received === undefined) throw new Error("nothing arrived");
    const { headers, text, body } = received;
    expect(new Webhook(endpoint.secret).verify(text, headers)).toEqual(body);
    expect(() => new Webhook(endpoint.secret).verify(`${text} `, headers)).toThrow();
    expect(await verifyMessage(endpoint, headers)).toBe(true);
    expect(headers["content-digest"]).toBe(`sha-256=:${createHash("sha256").update(text).digest("base64")}:`);
    expect(headers).toMatchObject({
      "webhook-id": body.delivery_id,
      "webhook-attempt": "1",
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^Bursar\/\d+\.\d+\.\d+$/),
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
  });

  it("that failed is retried with the same id and the same bytes, and is counted", async () => {
    const hooks = await tenant();
    await hooks.createEndpoint(`${receiver.url}/again`);
    let failures = 1;
    receiver.answerWith((received, response) =>
      (received.path === "/again" && failures-- > 0 ? status(503) : ok)(received, response),
    );
    await hooks.transact();
    const [first, second] = await receiver.arrived("/again", 2);
    expect(second?.text).toBe(first?.text);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect([first?.headers["webhook-attempt"], second?.headers["webhook-attempt"]]).toEqual(["1", "2"]);
    const delivery = await hooks.deliveryIn("delivered", first?.body.delivery_id ?? "");
    expect(delivery.attempts).toMatchObject([
      { number: 1, status: 503, answer: "status 503", error: null },
      { number: 2, status: 200, answer: "thanks", error: null },
    ]);
    expect(delivery).toMatchObject({ attempt_count: 2, last_status: 200, repeats: null, sequence: 1 });
  });

  it("is delayed for at least the Retry-After of the receiver", async () => {
    const hooks = await tenant();
    await hooks.createEndpoint(`${receiver.url}/patience`);
    receiver.answerWith(status(429, { "retry-after": "3600" }));
    await hooks.transact();
    const [received] = await receiver.arrived("/patience", 1);
    const { next_attempt_at } = await eventually(
      () => hooks.readDelivery(received?.body.delivery_id ?? ""),
      (delivery) => delivery.next_attempt_at !== null,
    );
    expect(Date.parse(next_attempt_at ?? "") - Date.now()).toBeGreaterThan(3_500_000);
  });

  it("does not follow redirects", async () => {
    const hooks = await tenant();
    await hooks.createEndpoint(`${receiver.url}/moved`);
    receiver.answerWith(status(307, { location: `${receiver.url}/elsewhere` }));
    await hooks.transact();
    const [received] = await receiver.arrived("/moved", 1);
    const delivery = await hooks.readDelivery(received?.body.delivery_id ?? "");
    expect(delivery.state).toBe("pending");
    expect(receiver.received.filter(({ path }) => path === "/elsewhere")).toEqual([]);
  });

  it("is sent only to endpoints that subscribe to its kind", async () => {
    const hooks = await tenant();
    await hooks.createEndpoint(`${receiver.url}/wallets-only`, ["wallet.updated"]);
    await hooks.createEndpoint(`${receiver.url}/transactions-only`, ["transaction.updated", "order.updated"]);
    await hooks.transact();
    await hooks.send("POST", "/v1/wallets", { name: "new", purpose: "payout" });
    const [wallet] = await receiver.arrived("/wallets-only", 1);
    await receiver.arrived("/transactions-only", 1);
    expect(wallet?.body).toMatchObject({
      event: "wallet.updated",
      data: {
        wallet: {
          object: "wallet",
          name: "new",
          purpose: "payout",
          state: "active",
          frozen: false,
          version: 2,
        },
        previous_state: "creating",
      },
    });
    expect((await hooks.list()).map(({ event }) => event).sort()).toEqual([
      "transaction.updated",
      "wallet.updated",
    ]);
  });

  it("answered with 410 disables its endpoint, and the other endpoints get an event", async () => {
    const hooks = await tenant();
    const gone = await hooks.createEndpoint(`${receiver.url}/gone`, ["transaction.updated"]);
    await hooks.createEndpoint(`${receiver.url}/watcher`, ["endpoint.disabled"]);
    receiver.answerWith((received, response) =>
      (received.path === "/gone" ? status(410) : ok)(received, response),
    );
    await hooks.transact();
    const [told] = await receiver.arrived("/watcher", 1);
    expect(told?.body).toMatchObject({
      event: "endpoint.disabled",
      data: {
        webhook_endpoint: { id: gone.id, state: "disabled", disabled_reason: "gone", version: 3 },
        previous_state: "enabled",
      },
    });
    expect(await hooks.readEndpoint(gone.id)).toMatchObject({ state: "disabled", disabled_reason: "gone" });
    await hooks.transact();
    expect(receiver.received.filter(({ path }) => path === "/gone")).toHaveLength(1);
    const [delivery] = await hooks.list(`endpoint_id=${gone.id}`);
    expect((await hooks.deliveryIn("exhausted", delivery?.id ?? "")).attempts).toMatchObject([
      { status: 410 },
    ]);
  });

  it("is signed with both secrets during a rotation, and with the new one alone afterwards", async () => {
    const hooks = await tenant();
    const endpoint = await hooks.createEndpoint(`${receiver.url}/rotated`);
    const path = `/v1/webhook-endpoints/${endpoint.id}/rotate-secret`;
    const rotated = await hooks.send("POST", path, {});
    expect(rotated.status).toBe(201);
    await hooks.transact();
    const [both] = await receiver.arrived("/rotated", 1);
    const shown = { secret: rotated.body.secret, keyId: rotated.body.key_id };
    for (const { secret, keyId } of [endpoint, shown]) {
      expect(new Webhook(secret).verify(both?.text ?? "", both?.headers ?? {})).toBeTruthy();
      expect(await verifyMessage({ secret, keyId }, both?.headers ?? {})).toBe(true);
    }
    const again = await hooks.send("POST", path, { overlap_seconds: 0 });
    await hooks.transact();
    const [, alone] = await receiver.arrived("/rotated", 2);
    expect(new Webhook(again.body.secret).verify(alone?.text ?? "", alone?.headers ?? {})).toBeTruthy();
    for (const secret of [endpoint.secret, rotated.body.secret])
      expect(() => new Webhook(secret).verify(alone?.text ?? "", alone?.headers ?? {})).toThrow();
  });
});
