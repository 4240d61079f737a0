// Webhooks: how many the service delivers a second, against a bare loop of undici, and how soon the first attempt arrives.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { compare } from "../measure.mjs";
import { startReceiver } from "../receivers.mjs";
import { withSandbox } from "../sandbox.mjs";
import { judge, rate } from "../targets.mjs";

const endpoints = 16;
const concurrencyPerEndpoint = 4;
const transactions = 1000;
const program = (/** @type {string} */ name) => join(import.meta.dirname, "../load", name);

/** Deliveries a second to many endpoints, against a loop that only posts. @param {import("../run.mjs").BenchOptions} options */
export async function deliver(options) {
  await withSandbox((sandbox) => compareDelivery(sandbox, options));
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {import("../run.mjs").BenchOptions} options */
async function compareDelivery(sandbox, { rounds, seconds }) {
  const receiver = await startReceiver();
  /** @type {ReturnType<typeof startLoop> | undefined} */
  let loop;
  try {
    const paths = Array.from({ length: endpoints }, (_, index) => `/${index}`);
    for (const path of paths) {
      const { id } = await sandbox.client.webhookEndpoints.create({ url: receiver.origin + path });
      await sandbox.client.webhookEndpoints.verify(id);
    }
    const count = transactions * endpoints;
    const bySender = () => receiver.expect(count, false, () => createBatch(sandbox, transactions));
    const { sample } = await bySender();
    const bareLoop = startLoop({
      ...sample,
      headers: ownHeaders(sample.headers),
      origin: receiver.origin,
      paths,
      connections: endpoints * concurrencyPerEndpoint,
    });
    loop = bareLoop;
    const byLoop = () => receiver.expect(count, false, () => bareLoop.send(count));
    const sides = [
      {
        name: "undici loop",
        measure: async () => ({ perSecond: (await byLoop()).perSecond, operations: count }),
        processes: { loop: { pid: bareLoop.pid }, receiver: { pid: receiver.pid } },
      },
      {
        name: "deliver",
        measure: async () => ({ perSecond: (await bySender()).perSecond, operations: count }),
        processes: {
          service: { pid: sandbox.pid },
          PostgreSQL: { pid: sandbox.postgresPid, children: true },
          receiver: { pid: receiver.pid },
        },
      },
    ];
    const figures = await compare("deliver", rounds, sides);
    const perSecond = figures["deliver"]?.[rate] ?? 0;
    await measureLatency(sandbox, receiver, perSecond / 2, seconds);
  } finally {
    loop?.stop();
    receiver.stop();
  }
}

/** From the event's own time, which is shortly before its commit, to the receipt. @param {import("../sandbox.mjs").Sandbox} sandbox @param {Awaited<ReturnType<typeof startReceiver>>} receiver @param {number} deliveriesPerSecond @param {number} seconds */
async function measureLatency(sandbox, receiver, deliveriesPerSecond, seconds) {
  const perSecond = deliveriesPerSecond / endpoints;
  const total = Math.round(perSecond * seconds);
  const { latenciesMs } = await receiver.expect(total * endpoints, true, async () => {
    const startedAt = performance.now();
    /** @type {Promise<unknown>[]} */
    const requests = [];
    while (requests.length < total) {
      const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * perSecond));
      while (requests.length < due) requests.push(sandbox.client.transactions.create(transaction));
      await sleep(2);
    }
    await Promise.all(requests);
  });
  const sorted = latenciesMs.sort((a, b) => a - b);
  const at = (/** @type {number} */ share) => sorted[Math.floor(sorted.length * share)];
  console.log(
    `  first attempt, at ${Math.round(deliveriesPerSecond)}/s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, of ${sorted.length}`,
  );
  judge("deliver", { "first attempt": { "p50 ms at half load": at(0.5) ?? Number.NaN } });
}

/** @param {object} load what to send, and where */
function startLoop(load) {
  const child = fork(program("bare-loop.mjs"), [JSON.stringify(load)]);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`bare-loop.mjs ended with ${code}`);
  });
  // It also fails when nothing waits for it.
  ended.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    /** @param {number} count */
    send: async (count) => {
      child.send(count);
      await Promise.race([once(child, "message"), ended]);
    },
    stop: () => child.kill("SIGKILL"),
  };
}

/** The headers of a request without those of its connection. @param {Record<string, string>} headers */
function ownHeaders(headers) {
  const { host: _host, connection: _connection, "content-length": _length, ...own } = headers;
  return own;
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {number} count */
async function createBatch({ client }, count) {
  const transactions = Array.from({ length: count }, () => ({ idempotency_key: newKey(), ...transaction }));
  await client.transactions.createBatch({ transactions });
}

const transaction = { reference: "invoice-2026-0001", asset: "USD", amount: "0.01" };
const newKey = () => `bench-${process.hrtime.bigint()}`;
