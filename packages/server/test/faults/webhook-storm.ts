import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "@bursar/client";
import { freePort } from "../../src/embedded/free-port.js";
import { eventually } from "../harness/eventually.js";
import { getToken, startSandbox } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";
import { startFaultReceiver } from "./fault-receiver.js";

export interface WebhookStormOptions {
  deliveries: number;
  endpoints: number;
  /** The number of times that the service is killed meanwhile. */
  kills: number;
  seed: number;
}

const drainMs = 500;

/**
 * Creates transactions whose events go to every endpoint, with receivers that fail at random, and kills the service meanwhile.
 * At the end every endpoint must have received every event, verified, under one id.
 */
export async function runWebhookStorm({ deliveries, endpoints, kills, seed }: WebhookStormOptions) {
  const folder = createTemporaryFolder("storm");
  const receiver = await startFaultReceiver(createRandom(seed), endpoints);
  writeFileSync(join(folder, "ca.pem"), receiver.ca);
  writeFileSync(
    join(folder, "bursar.yaml"),
    "webhooks:\n  retry_delays_ms: 100,100,200,200,500,500,1000,1000,1000\n",
  );
  const env = {
    BURSAR_DATA_DIR: join(folder, "data"),
    BURSAR_CONFIG: join(folder, "bursar.yaml"),
    PORT: String(await freePort()),
    LOG_LEVEL: "warn",
    NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
  };
  let service = await startSandbox(env);
  const token = await getToken(env);
  const bursar = createBursar({ baseUrl: `http://127.0.0.1:${env.PORT}`, credentials: () => token });
  for (let number = 0; number < endpoints; number++) {
    const { id, secret } = await bursar.webhookEndpoints.create({
      url: receiver.urlOf(number),
      events: ["transaction.updated"],
    });
    receiver.learnSecret(number, secret ?? "");
    const verify = () => bursar.webhookEndpoints.verify(id);
    // One of its certificates is wrong now and then.
    await eventually(verify, ({ verified }) => verified === true);
  }

  const startedMs = performance.now();
  const transactions = Math.ceil(deliveries / endpoints);
  const payments = Array.from({ length: transactions }, (_, index) => ({
    idempotency_key: `storm-${index}`,
    reference: "storm",
    asset: "USD",
    amount: "0.01",
  }));
  for await (const { error } of bursar.transactions.createMany(payments))
    if (error !== undefined) throw error;
  const expected = transactions * endpoints;
  const killTimesMs: number[] = [];
  const timeoutMs = 60_000 + expected * 20;
  for (let kill = 1; kill <= kills; kill++) {
    const share = (expected * kill) / (kills + 1);
    await eventually(receiver.arrivals.settledCount, (count) => count >= share, timeoutMs);
    service.child.kill("SIGKILL");
    await service.exited;
    // Requests that it sent may still be in the buffers of this process; they count as sent before the kill.
    await sleep(drainMs);
    killTimesMs.push(Date.now());
    service = await startSandbox(env);
  }
  await eventually(receiver.arrivals.settledCount, (count) => count >= expected, timeoutMs);
  const tookMs = Math.round(performance.now() - startedMs);
  // Waits until the service reports every delivery as final, so that nothing is sent afterwards.
  const deliveriesIn = async (state: "pending" | "exhausted") =>
    (await bursar.webhookDeliveries.list({ state, limit: 1 }).page()).data.length;
  await eventually(
    () => deliveriesIn("pending"),
    (count) => count === 0,
    timeoutMs,
  );
  const exhausted = await deliveriesIn("exhausted");
  service.child.kill("SIGTERM");
  await service.exited;
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    seed,
    expected,
    kills,
    tookMs,
    exhausted,
    ...receiver.arrivals.report(killTimesMs),
  };
}

/** Seeded random numbers from 0 to 1 (mulberry32), so that a failure can be reproduced. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
