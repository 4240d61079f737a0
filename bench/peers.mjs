// Services that the benches compare Bursar with, each as a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { freePort, waitUntilReady } from "./sandbox.mjs";

/**
 * @typedef {object} Peer
 * @property {string} url
 * @property {number} pid
 * @property {() => void} stop
 */

/**
 * A Fastify route with the schemas of ours and a handler that only answers, with a transaction that the service has made.
 * @param {import("./sandbox.mjs").Sandbox} sandbox @param {string} [orderbook] what its order-book route answers
 */
export async function startEmptyRoute(sandbox, orderbook = "{}") {
  return startPeer("empty-route.mjs", [await sampleTransaction(sandbox), orderbook]);
}

/**
 * A service that accepts and settles, in a schema of its own on the sandbox's PostgreSQL.
 * @param {"plain-service.mjs" | "pg-boss-service.mjs"} program @param {import("./sandbox.mjs").Sandbox} sandbox
 */
export async function startPeerService(program, sandbox) {
  return startPeer(program, [await sampleTransaction(sandbox), sandbox.databaseUrl, sandbox.token]);
}

/** @param {string} program @param {string[]} args @returns {Promise<Peer>} */
async function startPeer(program, args) {
  const port = await freePort();
  const path = join(import.meta.dirname, "peers", program);
  const child = spawn(process.execPath, [path, String(port), ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://127.0.0.1:${port}`;
  const exited = once(child, "exit").then(() => {
    throw new Error(`${program} has ended`);
  });
  // It ends at last when the bench stops it.
  exited.catch(() => undefined);
  await Promise.race([waitUntilReady(url), exited]);
  return { url, pid: child.pid ?? 0, stop: () => child.kill("SIGKILL") };
}

/** @param {import("./sandbox.mjs").Sandbox} sandbox */
async function sampleTransaction({ client }) {
  const body = { reference: "invoice-2026-0001", asset: "USD", amount: "0.01" };
  return JSON.stringify(await client.transactions.create(body, { idempotencyKey: "sample" }));
}
