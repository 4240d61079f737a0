// node settled.mjs <url> <token> <seconds> <per second>: creates transactions at a fixed rate in a process of its own, waits for each to be
// settled, and prints as JSON how long that took, counted from the time at which each request was due.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const [url = "", token = "", seconds = "4", perSecond = "20"] = process.argv.slice(2);
const body = '{"reference":"invoice-2026-0001","asset":"USD","amount":"0.01"}';
const count = Number(seconds) * Number(perSecond);
const authorization = `Bearer ${token}`;

/** @type {number[]} */
const latenciesMs = [];

/** @param {number} dueAt */
async function createAndWait(dueAt) {
  const headers = { authorization, "content-type": "application/json", "idempotency-key": randomUUID() };
  const created = await fetch(`${url}/v1/transactions`, { method: "POST", headers, body });
  const { id } = /** @type {{ id: string }} */ (await created.json());
  if (created.status !== 202) throw new Error(`a transaction was answered with ${created.status}`);
  let etag = created.headers.get("etag") ?? '"1"';
  for (;;) {
    const waiting = { authorization, "if-none-match": etag, prefer: "wait=30" };
    const response = await fetch(`${url}/v1/transactions/${id}`, { headers: waiting });
    if (response.status === 304) continue;
    const { state } = /** @type {{ state: string }} */ (await response.json());
    if (state === "completed") break;
    etag = response.headers.get("etag") ?? etag;
  }
  latenciesMs.push(performance.now() - dueAt);
}

// Connections are opened and code is compiled before it counts.
await Promise.all(Array.from({ length: 5 }, () => createAndWait(performance.now())));
latenciesMs.length = 0;

const startedAt = performance.now();
const requests = [];
for (let index = 0; index < count; index++) {
  const dueAt = startedAt + (index * 1000) / Number(perSecond);
  const aheadMs = dueAt - performance.now();
  if (aheadMs > 0) await sleep(aheadMs);
  requests.push(createAndWait(dueAt));
}
await Promise.all(requests);
latenciesMs.sort((a, b) => a - b);
const at = (/** @type {number} */ share) => latenciesMs[Math.ceil(share * count) - 1];
process.stdout.write(JSON.stringify({ count, p50Ms: at(0.5), p99Ms: at(0.99) }));
