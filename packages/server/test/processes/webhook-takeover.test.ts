import { rmSync } from "node:fs";
import { join } from "node:path";
import { createBursar } from "@bursar/client";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../src/embedded/free-port.js";
import { eventually } from "../harness/eventually.js";
import type { BursarProcess } from "../harness/service/bursar-process.js";
import { getToken, startSandbox } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";
import { ok, startWebhookReceiver } from "../harness/webhooks/webhook-receiver.js";

describe("a sender that is killed while it sends", () => {
  const folder = createTemporaryFolder("takeover");
  const started: BursarProcess[] = [];
  afterEach(async () => {
    for (const { child, exited } of started) {
      child.kill("SIGKILL");
      await exited;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it("leaves its deliveries to the next sender, which sends all of them with the same ids", async () => {
    const env = { BURSAR_DATA_DIR: join(folder, "data"), PORT: String(await freePort()), LOG_LEVEL: "warn" };
    const receiver = await startWebhookReceiver(() => undefined);
    const first = await startSandbox(env);
    started.push(first);
    const token = await getToken(env);
    const bursar = createBursar({ baseUrl: `http://127.0.0.1:${env.PORT}`, credentials: () => token });
    const { id } = await bursar.webhookEndpoints.create({ url: `${receiver.url}/hook` });
    await bursar.webhookEndpoints.verify(id);
    for (let count = 0; count < 10; count++)
      await bursar.transactions.create({ reference: "x", asset: "USD", amount: "1" });
    const underWay = await receiver.arrived("/hook", 4);
    first.child.kill("SIGKILL");
    await first.exited;

    receiver.answerWith(ok);
    started.push(await startSandbox(env));
    const { data } = await eventually(
      () => bursar.webhookDeliveries.list({ state: "delivered" }).page(),
      (page) => page.data.length === 10,
    );
    const ids = data.map((delivery) => delivery.id);
    const counts = new Map<string, number>();
    for (const { body } of receiver.received)
      counts.set(body.delivery_id, (counts.get(body.delivery_id) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual(ids.sort());
    // A delivery is repeated only if its outcome was unknown.
    expect(
      [...counts]
        .filter(([, count]) => count > 1)
        .map(([id]) => id)
        .sort(),
    ).toEqual(underWay.map(({ body }) => body.delivery_id).sort());
    await receiver.stop();
  });
});
