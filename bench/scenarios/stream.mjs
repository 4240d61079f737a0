import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { save } from "../measure.mjs";
import { residentMegabytes } from "../processes.mjs";
import { withSandbox } from "../sandbox.mjs";
import { judge } from "../targets.mjs";

const configuration = "stream:\n  sockets_per_client: 10000\n";
const socketCounts = [1, 100, 1000];
/** One tenant's steady load, and a burst at full speed. */
const steadyPerSecond = 100;
const burstSize = 500;
const idleSockets = 5000;

/**
 * How long an event takes from its decision, which is just before its commit, until a client receives it; how many a second all
 * sockets receive together; and what an idle socket costs. @param {import("../run.mjs").BenchOptions} options
 */
export async function stream({ seconds }) {
  console.log("\nstream");
  /** @type {Awaited<ReturnType<typeof measureLive>>[]} */
  const live = [];
  for (const sockets of socketCounts) {
    await withSandbox(
      async (sandbox) => {
        live.push(await measureLive(sandbox, sockets, seconds));
      },
      { configuration },
    );
  }
  await withSandbox(
    async (sandbox) => {
      const idle = await measureIdle(sandbox);
      console.log(`  ${idle.sockets} idle sockets: ${idle.kilobytesPerSocket} KB each`);
      const results = judge("stream", { "idle socket": { KB: idle.kilobytesPerSocket } });
      save("stream", { live, idle, results });
    },
    { configuration },
  );
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {number} sockets @param {number} seconds */
async function measureLive(sandbox, sockets, seconds) {
  const clients = await openSockets(sandbox, sockets, "events");
  await clients.ask();
  for (let tenth = 0; tenth < seconds * 10; tenth++) {
    const pause = sleep(100);
    await pay(sandbox, steadyPerSecond / 10);
    await pause;
  }
  await sleep(500);
  const steady = await clients.ask();
  const startedAt = performance.now();
  await pay(sandbox, burstSize);
  let delivered = 0;
  while (delivered < burstSize * sockets) {
    delivered += (await clients.ask()).received;
    if (performance.now() - startedAt > 60_000) throw new Error(`only ${delivered} events were delivered`);
  }
  const deliveredPerSecond = Math.round(delivered / ((performance.now() - startedAt) / 1000));
  clients.stop();
  const expected = steadyPerSecond * seconds * sockets;
  const [p50, p99] = [50, 99].map((percent) => percentile(steady.latenciesMs, percent));
  console.log(
    `  ${String(sockets).padStart(5)} sockets, ${steadyPerSecond} events/s: p50 ${p50} ms, p99 ${p99} ms, ${steady.received} of ${expected} in time; burst: ${deliveredPerSecond}/s delivered`,
  );
  return { sockets, p50, p99, received: steady.received, expected, deliveredPerSecond };
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox */
async function measureIdle(sandbox) {
  // What the first streams load and compile is not part of what a stream costs.
  const first = await openSockets(sandbox, 100, "idle");
  await sleep(2000);
  const before = residentMegabytes(sandbox.pid).current;
  const rest = await openSockets(sandbox, idleSockets, "idle");
  await sleep(5000);
  const after = residentMegabytes(sandbox.pid).current;
  first.stop();
  rest.stop();
  const kilobytesPerSocket = Math.round(((after - before) * 1024 * 10) / idleSockets) / 10;
  return { sockets: idleSockets, before, after, kilobytesPerSocket };
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {number} count @param {string} channel */
async function openSockets({ url, token }, count, channel) {
  const program = join(import.meta.dirname, "../load/sockets.mjs");
  const child = spawn(process.execPath, [program, url, token, String(count), channel], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    /** @returns {Promise<{ received: number, latenciesMs: number[] }>} */
    ask: async () => {
      child.stdin.write("\n");
      const { value } = await lines.next();
      return JSON.parse(value);
    },
    stop: () => child.kill("SIGKILL"),
    exited: once(child, "exit"),
  };
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {number} count */
async function pay({ client }, count) {
  const transactions = Array.from({ length: count }, () => ({
    idempotency_key: crypto.randomUUID(),
    reference: "invoice-2026-0001",
    asset: "USD",
    amount: "0.01",
  }));
  await client.transactions.createBatch({ transactions });
}

/** @param {number[]} values @param {number} percent */
function percentile(values, percent) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))];
}
