import { describe, expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";
import { startWebhookReceiver, status } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await sharedService();

/** A tenant with an endpoint whose receiver has got one delivery. */
async function createDelivery() {
  const owner = await service.createTenant("100");
  const token = await service.token(owner);
  const hooks = webhooksOf(service, token);
  const receiver = await startWebhookReceiver();
  const endpoint = await hooks.createEndpoint(`${receiver.url}/hook`);
  await hooks.transact();
  const [received] = await receiver.arrived("/hook", 1);
  if (received === undefined) throw new Error("nothing has arrived");
  return { owner, token, hooks, receiver, endpoint, received, id: received.body.delivery_id };
}

describe("what a delivery has sent", () => {
  it("is shown as it was received, with its attempts, without signatures and secrets", async () => {
    const { hooks, token, receiver, endpoint, received, id } = await createDelivery();
    const shown = await hooks.deliveryIn("delivered", id);
    await receiver.stop();
    expect(shown.request).toEqual({
      method: "POST",
      headers: Object.fromEntries(
        [
          "content-type",
          "content-digest",
          "webhook-id",
          "webhook-timestamp",
          "webhook-attempt",
          "traceparent",
        ].map((name) => [name, received.headers[name]]),
      ),
      body: received.text,
    });
    expect(shown.attempts).toMatchObject([{ number: 1, status: 200, answer: "thanks" }]);
    const text = await (await service.call("GET", `/v1/webhook-deliveries/${id}`, token)).text();
    const signature = String(received.headers["webhook-signature"]).replace("v1,", "");
    for (const secret of [signature, endpoint.secret, "whsec_", "whk_"]) expect(text).not.toContain(secret);
  });

  it("is hidden from a client that may manage webhooks but not read the event", async () => {
    const { owner, receiver, id } = await createDelivery();
    await receiver.stop();
    const read = async (scope: string) =>
      await webhooksOf(service, await service.token(owner, scope)).readDelivery(id);
    expect((await read("webhooks:manage")).request).toBeNull();
    expect((await read("webhooks:manage wallets:read orders:read")).request).toBeNull();
    expect((await read("webhooks:manage transactions:read")).request?.body).toContain(id);
    expect((await read("webhooks:manage events:read")).request?.body).toContain(id);
  });

  it("is shown before the first attempt has an outcome, and counts the last attempt after a failure", async () => {
    const { hooks, receiver, id } = await createDelivery();
    receiver.answerWith(status(500));
    const resent = await hooks.send("POST", `/v1/webhook-deliveries/${id}/resend`);
    expect([resent.status, "request" in resent.body]).toEqual([202, false]);
    const [, again] = await receiver.arrived("/hook", 2);
    const shown = await hooks.readDelivery(resent.body.id);
    await receiver.stop();
    expect(shown.request).toMatchObject({ headers: { "webhook-id": resent.body.id }, body: again?.text });
  });
});

describe("rotating the secret of an endpoint", () => {
  const rotate = async (
    hooks: Awaited<ReturnType<typeof createDelivery>>["hooks"],
    id: string,
    key?: string,
    body?: object,
  ) => {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return await hooks.send("POST", `/v1/webhook-endpoints/${id}/rotate-secret`, body, headers);
  };

  it("needs no body", async () => {
    const { hooks, receiver, endpoint } = await createDelivery();
    await receiver.stop();
    const rotated = await rotate(hooks, endpoint.id);
    expect(rotated).toMatchObject({ status: 201, body: { secret: expect.stringMatching(/^whsec_/) } });
    expect(rotated.body.webhook_endpoint.old_secret_until).not.toBeNull();
  });

  it("happens once for each key, also if the requests arrive at once, and shows the secret once", async () => {
    const { hooks, receiver, endpoint } = await createDelivery();
    await receiver.stop();
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(hooks, endpoint.id, "k")));
    expect(answers.map((one) => one.status)).toEqual([201, 201, 201, 201, 201]);
    const replayed = answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true");
    expect(replayed).toHaveLength(4);
    for (const { body } of replayed) expect(body).toMatchObject({ secret: null, key_id: null });
    const { version } = await hooks.readEndpoint(endpoint.id);
    expect(answers.map(({ body }) => body.webhook_endpoint.version)).toEqual(answers.map(() => version));
    const other = await rotate(hooks, endpoint.id, "k", { overlap_seconds: 0 });
    expect([other.status, other.body.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
    const { id } = await hooks.registerEndpoint("https://other.example/hook");
    expect((await rotate(hooks, id, "k")).body.error.code).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it("does not use up the key if it was refused", async () => {
    const { owner, hooks, receiver, endpoint } = await createDelivery();
    await receiver.stop();
    const limited = webhooksOf(service, await service.token(owner, "webhooks:manage"));
    expect((await rotate(limited, endpoint.id, "k")).body.error.code).toBe("INSUFFICIENT_SCOPE");
    expect((await rotate(hooks, endpoint.id, "k")).body.secret).toMatch(/^whsec_/);
  });
});
