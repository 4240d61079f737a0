// node attack.mjs <url> <seconds>: reads an array of attacks as JSON from its input and sends each over connections of its own, as fast as
// it is answered and whatever the answer is. It prints as JSON how many of each were admitted and refused.
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { Pool } from "undici";

/** @typedef {{ name: string, token: string, method: import("undici").Dispatcher.HttpMethod, path: string, body?: string, items?: object, versioned?: boolean, keyed?: boolean }} Attack */

const [url = "", seconds = "4"] = process.argv.slice(2);
const connectionsOfEach = 4;
/** @type {Attack[]} */
const attacks = JSON.parse(await text(process.stdin));
/** @type {Record<string, Record<string, number>>} */
const answers = {};
const endsAt = performance.now() + Number(seconds) * 1000;
let keys = 0;
// Much cheaper than `fetch`: in reality the attacker does not use the processors of the service.
const pool = new Pool(url);

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
    const answer = await pool
      .request({
        path,
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(content === undefined ? {} : { "content-type": "application/json" }),
          ...(versioned === true ? { "if-match": version } : {}),
          ...(keyed === true ? { "idempotency-key": randomUUID() } : {}),
        },
        ...(content === undefined ? {} : { body: content }),
      })
      .catch(() => undefined);
    const status = String(answer?.statusCode ?? "disconnected");
    await answer?.body.dump().catch(() => undefined);
    answers[name] = { ...answers[name], [status]: (answers[name]?.[status] ?? 0) + 1 };
    if (versioned === true && status !== "429") version = await readVersion(token, version, answer);
    if (items !== undefined && status === "202") content = batchOf(items);
  }
}

/** @typedef {import("undici").Dispatcher.ResponseData} Answer */

/** @param {string} token @param {string} known @param {Answer | undefined} answer */
async function readVersion(token, known, answer) {
  const own = answer === undefined ? undefined : etagOf(answer);
  if (answer?.statusCode === 200 && own !== undefined) return own;
  const headers = { authorization: `Bearer ${token}` };
  const current = await pool.request({ path: "/v1/policy", method: "GET", headers });
  await current.body.dump();
  return etagOf(current) ?? known;
}

/** @param {Answer} answer */
function etagOf({ headers: { etag } }) {
  return typeof etag === "string" ? etag : undefined;
}

await Promise.all(
  attacks.flatMap((attack) => Array.from({ length: connectionsOfEach }, () => repeat(attack))),
);
process.stdout.write(JSON.stringify(answers));
await pool.close();
