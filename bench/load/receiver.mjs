// Receives webhooks and answers at once, as a process of its own. Its parent says how many to wait for.
import { createServer } from "node:http";

/**
 * @typedef {object} Received
 * @property {number} perSecond from the first to the last
 * @property {number[]} latenciesMs from the event to the receipt, where they were asked for
 * @property {{ headers: Record<string, string>, body: string }} sample the last one
 */

let expected = 0;
let count = 0;
let firstAt = 0;
let isTimed = false;
/** @type {number[]} */
let latenciesMs = [];

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    if (expected === 0) {
      // Before the first run, endpoints are verified.
      response.end(JSON.parse(String(Buffer.concat(chunks))).data.challenge);
      return;
    }
    response.writeHead(204).end();
    if (count === 0) firstAt = performance.now();
    count++;
    if (isTimed)
      latenciesMs.push(Date.now() - Date.parse(JSON.parse(String(Buffer.concat(chunks))).occurred_at));
    if (count !== expected) return;
    const perSecond = count / ((performance.now() - firstAt) / 1000);
    const sample = { headers: request.headers, body: String(Buffer.concat(chunks)) };
    process.send?.({ perSecond, latenciesMs, sample });
  });
});
process.on("message", (/** @type {{ expected: number, isTimed: boolean }} */ wanted) => {
  ({ expected, isTimed } = wanted);
  count = 0;
  latenciesMs = [];
  process.send?.("expecting");
});
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
