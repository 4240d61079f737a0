import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../harness/eventually.js";
import { freePort, getToken, startSandbox } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";
import { startFaultReceiver } from "./fault-receiver.js";

export interface WebhookStormOptions {
  deliveries: number;
  endpoints: number;
  /** The number of times that the service is killed meanwhile. */
  kills: number;
  seed: number;
}

const batchItemsMax = 1000;
const drainMs = 500;

/**
 * Creates transactions whose events go to every endpoint, with receivers that fail at random, and kills the service meanwhile.
 * At the end every endpoint must have received every event, verified, under one id.
 */
export async function runWebhookStorm({ deliveries, endpoints, kills, seed }: WebhookStormOptions) {
  const folder = createTemporaryFolder("storm");
  const receiver = await startFaultReceiver(createRandom(seed));
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
  const api = createApi(`http://127.0.0.1:${env.PORT}`, await getToken(env));
  for (let number = 0; number < endpoints; number++) {
    const created = await api("POST", "/v1/webhook-endpoints", {
      url: receiver.urlOf(number),
      events: ["transaction.updated"],
    });
    receiver.learnSecret(number, created["secret"] as string);
    const verify = () => api("POST", `/v1/webhook-endpoints/${created["id"]}/verify`);
    // One of its certificates is wrong now and then.
    await eventually(verify, ({ verified }) => verified === true);
  }

  const startedMs = performance.now();
  const transactions = Math.ceil(deliveries / endpoints);
  for (let sent = 0; sent < transactions; sent += batchItemsMax) {
    const count = Math.min(batchItemsMax, transactions - sent);
    await api("POST", "/v1/transactions/batch", {
      transactions: Array.from({ length: count }, (_, index) => ({
        idempotency_key: `storm-${sent + index}`,
        reference: "storm",
        asset: "USD",
        amount: "0.01",
      })),
    });
  }
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
  const pending = async () =>
    ((await api("GET", "/v1/webhook-deliveries?state=pending&limit=1"))["data"] as unknown[]).length;
  await eventually(pending, (count) => count === 0, timeoutMs);
  const exhausted = (await api("GET", "/v1/webhook-deliveries?state=exhausted&limit=1"))["data"] as unknown[];
  service.child.kill("SIGTERM");
  await service.exited;
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    seed,
    expected,
    kills,
    tookMs,
    exhausted: exhausted.length,
    ...receiver.arrivals.report(killTimesMs),
  };
}

function createApi(url: string, token: string) {
  return async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
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
