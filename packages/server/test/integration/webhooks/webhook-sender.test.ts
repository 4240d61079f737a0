import { attemptDelaysMs } from "@bursar/domain";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startClockedParts } from "../../harness/webhooks/clocked-parts.js";
import {
  ok,
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../harness/webhooks/webhook-receiver.js";

const dayMs = 86_400_000;

describe("the sender", () => {
  let service: Awaited<ReturnType<typeof startClockedParts>>;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    service = await startClockedParts();
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.answerWith(ok));
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
    expect(service.errors).toEqual([]);
  });

  it("gives up after the tenth attempt", async () => {
    const tenant = await service.createTenant();
    await tenant.createEndpoint(`${receiver.url}/exhausted`);
    receiver.answerWith(status(500));
    await tenant.transact();
    for (const [index, delayMs] of [...attemptDelaysMs.slice(1), 0].entries()) {
      await tenant.deliveriesWhen(([one]) => one?.attempts.length === index + 1);
      service.advance(Math.ceil(delayMs * 1.2));
    }
    const [given] = await tenant.deliveriesWhen(([one]) => one?.state === "exhausted");
    const arrived = await receiver.arrived("/exhausted", 10);
    expect(arrived.map(({ headers }) => headers["webhook-attempt"])).toEqual(
      Array.from({ length: 10 }, (_, index) => `${index + 1}`),
    );
    expect(new Set(arrived.map(({ text }) => text)).size).toBe(1);
    expect(given?.attempts).toHaveLength(10);
  });

  it("does not retry before the delivery is due", async () => {
    const tenant = await service.createTenant();
    await tenant.createEndpoint(`${receiver.url}/early`);
    receiver.answerWith(status(500));
    await tenant.transact();
    const [failed] = await tenant.deliveriesWhen(([one]) => one?.attempts.length === 1);
    const waitMs = (failed?.nextAttemptAt?.getTime() ?? 0) - service.now();
    expect(waitMs).toBeGreaterThanOrEqual(4000);
    receiver.answerWith(ok);
    service.advance(waitMs - 1);
    // A new delivery has arrived, so the sender has checked the queue.
    await tenant.transact();
    const all = await tenant.deliveriesWhen((found) => found.some(({ state }) => state === "delivered"));
    expect(all.map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ["delivered", 1],
      ["pending", 1],
    ]);
    service.advance(1);
    await tenant.deliveriesWhen((all) => all.every(({ state }) => state === "delivered"));
  });

  it("disables an endpoint that has failed for five days, and notifies the others", async () => {
    const tenant = await service.createTenant();
    const dead = await tenant.createEndpoint(`${receiver.url}/dead`, ["transaction.updated"]);
    await tenant.createEndpoint(`${receiver.url}/alive`, ["endpoint.disabled"]);
    receiver.answerWith((received, response) =>
      (received.path === "/dead" ? status(500) : ok)(received, response),
    );
    await tenant.transact();
    await tenant.deliveriesWhen(([one]) => one?.attempts.length === 1);
    const endpoint = await eventually(
      () => service.parts.useCases.readEndpoint(tenant.id, dead.id),
      (found) => "failingSince" in found && found.failingSince !== null,
    );
    expect(endpoint).toMatchObject({ state: "enabled" });
    service.advance(5 * dayMs);
    const [told] = await receiver.arrived("/alive", 1);
    expect(told?.body.data).toMatchObject({
      webhook_endpoint: { state: "disabled", disabled_reason: "failing" },
      previous_state: "enabled",
    });
    expect(await service.parts.useCases.readEndpoint(tenant.id, dead.id)).toMatchObject({
      state: "disabled",
      disabledReason: "failing",
    });
  });

  it("resets the failing time of an endpoint after a successful delivery", async () => {
    const tenant = await service.createTenant();
    const endpoint = await tenant.createEndpoint(`${receiver.url}/flaky`);
    receiver.answerWith(status(500));
    await tenant.transact();
    await tenant.deliveriesWhen(([one]) => one?.attempts.length === 1);
    receiver.answerWith(ok);
    service.advance(6000);
    await tenant.deliveriesWhen(([one]) => one?.state === "delivered");
    expect(await service.parts.useCases.readEndpoint(tenant.id, endpoint.id)).toMatchObject({
      failingSince: null,
    });
  });

  it("pauses after eight consecutive failures, and then sends one request at a time", async () => {
    const tenant = await service.createTenant();
    await tenant.createEndpoint(`${receiver.url}/broken`);
    receiver.answerWith(status(500));
    for (let count = 0; count < 20; count++) await tenant.transact();
    const at = () => receiver.received.filter(({ path }) => path === "/broken").length;
    await receiver.arrived("/broken", 8);
    await tenant.deliveriesWhen((all) => all.filter(({ attempts }) => attempts.length > 0).length >= 8);
    await waitForSenderRound(tenant);
    // Requests that were in flight when the circuit opened are not cancelled.
    const opened = at();
    expect(opened).toBeLessThanOrEqual(11);
    service.advance(5000);
    await receiver.arrived("/broken", opened + 1);
    await waitForSenderRound(tenant);
    expect(at()).toBe(opened + 1);
    receiver.answerWith(ok);
    service.advance(60_000);
    await tenant.deliveriesWhen((all) => all.every(({ state }) => state === "delivered"));
    const untried = (await tenant.deliveries()).filter(({ attempts }) => attempts.length === 1);
    expect(untried.length).toBeGreaterThanOrEqual(20 - opened - 1);
  });

  it.each(["enable", "test"] as const)(
    "ends the pause after %s, without waiting for its end",
    async (way) => {
      const tenant = await service.createTenant();
      const path = `/paused-${way}`;
      const endpoint = await tenant.createEndpoint(`${receiver.url}${path}`);
      receiver.answerWith(status(500));
      for (let count = 0; count < 20; count++) await tenant.transact();
      await receiver.arrived(path, 8);
      await tenant.deliveriesWhen((all) => all.filter(({ attempts }) => attempts.length > 0).length >= 8);
      await waitForSenderRound(tenant);
      receiver.answerWith(ok);
      const { testEndpoint, setEndpointEnabled } = service.parts.useCases;
      if (way === "test")
        expect(await testEndpoint(tenant.asClient, endpoint.id)).toMatchObject({ delivered: true });
      else await setEndpointEnabled(tenant.origin, endpoint.id, true);
      // The clock stands still, so only first attempts are due.
      await tenant.deliveriesWhen((all) =>
        all.every(({ state, attempts }) => state === "delivered" || attempts.length === 1),
      );
      const delivered = (await tenant.deliveries()).filter(({ state }) => state === "delivered");
      expect(delivered.length).toBeGreaterThanOrEqual(9);
    },
  );

  it("sends first attempts for one subject in the order of its versions, one after the other", async () => {
    const tenant = await service.createTenant();
    await tenant.createEndpoint(`${receiver.url}/ordered`);
    const open = new Set<string>();
    let overlaps = 0;
    receiver.answerWith((received, response) => {
      const { path, body } = received;
      if (path !== "/ordered") return ok(received, response);
      const { id } = body.data.wallet;
      if (open.has(id)) overlaps += 1;
      open.add(id);
      // The second version fails, which does not delay the others.
      setTimeout(() => {
        open.delete(id);
        response.writeHead(body.data.wallet.version === 2 ? 500 : 200).end();
      }, 100);
    });
    const { items: wallets } = await service.parts.useCases.listWallets(tenant.id, {}, 2, undefined);
    for (let round = 0; round < 6; round++)
      for (const { id } of wallets)
        await service.parts.useCases.setFrozen(tenant.origin, id, round % 2 === 0);
    const arrived = await receiver.arrived("/ordered", 12);
    for (const shown of new Set(arrived.map(({ body }) => body.data.wallet.id))) {
      const own = arrived.filter(({ body }) => body.data.wallet.id === shown);
      expect(own.map(({ body }) => body.data.wallet.version)).toEqual([2, 3, 4, 5, 6, 7]);
    }
    expect(overlaps).toBe(0);
    service.advance(10_000);
    const again = await receiver.arrived("/ordered", 14);
    expect(again.slice(12).map(({ body }) => body.data.wallet.version)).toEqual([2, 2]);
  });

  it("limits a hanging endpoint to four requests, while the others receive everything", async () => {
    const tenant = await service.createTenant();
    await tenant.createEndpoint(`${receiver.url}/hanging`);
    const others = Array.from({ length: 20 }, (_, index) => `/other-${index}`);
    for (const path of others) await tenant.createEndpoint(receiver.url + path);
    receiver.answerWith((received, response) => {
      if (received.path !== "/hanging") ok(received, response);
    });
    for (let count = 0; count < 30; count++) await tenant.transact();
    for (const path of others) expect(await receiver.arrived(path, 30)).toHaveLength(30);
    expect(receiver.received.filter(({ path }) => path === "/hanging")).toHaveLength(4);
  });

  /** Waits for a full round of the sender: the last delivery to a second endpoint is sent after all that were due before. */
  async function waitForSenderRound(tenant: Awaited<ReturnType<typeof service.createTenant>>): Promise<void> {
    const witness = await service.createTenant();
    const path = `/witness-${witness.id}-${receiver.received.length}`;
    await witness.createEndpoint(receiver.url + path);
    await witness.transact();
    await receiver.arrived(path, 1);
    await tenant.deliveries();
  }
});
