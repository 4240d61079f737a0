// node steady.mjs <url> <token> <seconds> <per second>: creates transactions at a fixed rate in a process of its own, and prints as JSON
// how long the answers took, counted from the time at which each request was due, and how many were refused.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";

const [url = "", token = "", seconds = "4", perSecond = "100"] = process.argv.slice(2);
const body = '{"reference":"invoice-2026-0001","asset":"USD","amount":"0.01"}';
// A third of the cost of `fetch`: what this process takes from the service is no part of the attack.
const pool = new Pool(url);
const count = Number(seconds) * Number(perSecond);

/** @type {number[]} */
const latenciesMs = [];
let refused = 0;

/** @param {number} dueAt */
async function create(dueAt) {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
  };
  const answer = await pool.request({ path: "/v1/transactions", method: "POST", headers, body });
  await answer.body.dump();
  latenciesMs.push(performance.now() - dueAt);
  if (answer.statusCode !== 202) refused += 1;
}

// Connections are opened and code is compiled before it counts.
await Promise.all(Array.from({ length: 20 }, () => create(performance.now())));
latenciesMs.length = 0;

const startedAt = performance.now();
const requests = [];
for (let index = 0; index < count; index++) {
  const dueAt = startedAt + (index * 1000) / Number(perSecond);
  const aheadMs = dueAt - performance.now();
  if (aheadMs > 0) await sleep(aheadMs);
  requests.push(create(dueAt));
}
await Promise.all(requests);
await pool.close();
latenciesMs.sort((a, b) => a - b);
const at = (/** @type {number} */ share) => latenciesMs[Math.ceil(share * count) - 1];
process.stdout.write(JSON.stringify({ count, refused, p50Ms: at(0.5), p99Ms: at(0.99) }));
