import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startClockedParts } from "../../harness/webhooks/clocked-parts.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";

const endpoints = 50;
const payments = 12;
/** In tokens. By its requests alone, the tenant with many endpoints has used least. */
const cost = { batch: 2, neighbour: 5, busy: 20 };

describe("a tenant with many endpoints", () => {
  let service: Awaited<ReturnType<typeof startClockedParts>>;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    service = await startClockedParts({ settings: { "limits.event_loop_delay_ms": 20 } });
    receiver = await startWebhookReceiver();
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  it("receives all deliveries of a batch, is charged for them, and is refused before its neighbour in an overload", async () => {
    const { parts } = service;
    const { shedder } = parts.guard;
    const many = await service.createTenant();
    const [neighbour, busy] = [await service.createTenant(), await service.createTenant()];
    for (let count = 0; count < endpoints; count++)
      await many.createEndpoint(`${receiver.url}/${count}`, ["transaction.updated"]);
    await Promise.all(Array.from({ length: payments }, () => many.transact()));
    await eventually(
      () => new Set(receiver.received.map(({ body }) => body.delivery_id)).size,
      (delivered) => delivered >= endpoints * payments,
    );
    // What the edge charges for their requests.
    shedder.count(many.id, cost.batch);
    shedder.count(neighbour.id, cost.neighbour);
    shedder.count(busy.id, cost.busy);
    parts.load.start();
    await eventually(
      () => {
        block(80);
        return parts.load.reading().isOverloaded;
      },
      (isOverloaded) => isOverloaded,
    );
    expect([many, neighbour, busy].map(({ id }) => shedder.sheds(id))).toEqual([true, false, true]);
  });
});

/** Uses the processor in one piece. On a busy machine it takes so long that connections to the database can be lost. */
function block(ms: number): void {
  const startedMs = process.cpuUsage().user / 1000;
  while (process.cpuUsage().user / 1000 - startedMs < ms);
}
