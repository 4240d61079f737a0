// node attack.mjs <url> <seconds>: reads an array of attacks as JSON from its input and sends each over connections of its own, as fast as
// it is answered and whatever the answer is. It prints as JSON how many of each were admitted and refused.
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";

/** @typedef {{ name: string, token: string, method: string, path: string, body?: string, items?: object, versioned?: boolean, keyed?: boolean }} Attack */

const [url = "", seconds = "4"] = process.argv.slice(2);
const connectionsOfEach = 4;
/** @type {Attack[]} */
const attacks = JSON.parse(await text(process.stdin));
/** @type {Record<string, Record<string, number>>} */
const answers = {};
const endsAt = performance.now() + Number(seconds) * 1000;
let keys = 0;

/** A thousand items with keys that were never used. @param {object} item */
function batchOf(item) {
  const transactions = Array.from({ length: 1000 }, () => ({
    idempotency_key: `${process.pid}-${keys++}`,
    ...item,
  }));
  return JSON.stringify({ transactions });
}

/** @param {Attack} attack */
async function repeat({ name, token, method, path, body, items, versioned, keyed }) {
  let version = '"0"';
  // Made once, so that an attack that is mostly refused costs this process little; keys that were used are refused too.
  let content = items === undefined ? body : batchOf(items);
  while (performance.now() < endsAt) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(content === undefined ? {} : { "content-type": "application/json" }),
        ...(versioned === true ? { "if-match": version } : {}),
        ...(keyed === true ? { "idempotency-key": randomUUID() } : {}),
      },
      ...(content === undefined ? {} : { body: content }),
    }).catch(() => undefined);
    const status = String(response?.status ?? "disconnected");
    await response?.arrayBuffer().catch(() => undefined);
    answers[name] = { ...answers[name], [status]: (answers[name]?.[status] ?? 0) + 1 };
    if (versioned === true && status !== "429") version = await readVersion(token, version, response);
    if (items !== undefined && status === "202") content = batchOf(items);
  }
}

/** @param {string} token @param {string} known @param {Response | undefined} response */
async function readVersion(token, known, response) {
  const own = response?.headers.get("etag");
  if (response?.ok === true && own) return own;
  const current = await fetch(`${url}/v1/policy`, { headers: { authorization: `Bearer ${token}` } });
  await current.arrayBuffer();
  return current.headers.get("etag") ?? known;
}

await Promise.all(
  attacks.flatMap((attack) => Array.from({ length: connectionsOfEach }, () => repeat(attack))),
);
process.stdout.write(JSON.stringify(answers));
