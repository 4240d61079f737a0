// The yardstick for routes, as a process of its own; it answers with a transaction that the service has made.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { freePort, waitUntilReady } from "./sandbox.mjs";

/**
 * @typedef {object} Nothing
 * @property {string} url
 * @property {number} pid
 * @property {() => void} stop
 */

/** @param {import("./sandbox.mjs").Sandbox} sandbox @param {string} [orderbook] @returns {Promise<Nothing>} */
export async function startNothing(sandbox, orderbook = "{}") {
  const response = await fetch(`${sandbox.url}/v1/transactions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${sandbox.token}`,
      "idempotency-key": "sample",
      "content-type": "application/json",
    },
    body: JSON.stringify({ reference: "invoice-2026-0001", asset: "USD", amount: "0.01" }),
  });
  const port = await freePort();
  const program = join(import.meta.dirname, "load", "nothing.mjs");
  const child = spawn(process.execPath, [program, String(port), await response.text(), orderbook], {
    stdio: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url);
  return { url, pid: child.pid ?? 0, stop: () => child.kill("SIGKILL") };
}
