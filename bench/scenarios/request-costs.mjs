import { randomUUID } from "node:crypto";
import { createBursar } from "../../packages/client/dist/index.js";
import { processesOf } from "../load.mjs";
import { watchProcesses } from "../processes.mjs";
import { startReceiver } from "../receivers.mjs";
import { withSandbox } from "../sandbox.mjs";
import { largestPolicy } from "./noisy-neighbour.mjs";

/** @typedef {{ name: string, method: string, path: string, body?: () => unknown, versioned?: true, perSecond: number }} Kind */

const clientsListed = 200;
const transactionsListed = 200;

/**
 * The CPU time of one request of each kind against the tokens that it costs, and the share of a core that the whole quota of a tenant can
 * use with such requests. One request at a time, so that nothing is shared between them: it is the most that one can cost.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function requestCosts({ seconds }) {
  await withSandbox(async (sandbox) => {
    const { client } = sandbox;
    const call = callerOf(sandbox);
    /** @type {string[]} */
    const wallets = [];
    for (let count = 0; count < 9; count++) {
      wallets.push((await client.wallets.create({ name: `w${count}`, purpose: "payout" })).id);
    }
    for (let count = 0; count < clientsListed; count++)
      await client.clients.create({ name: `c${count}`, scopes: ["transactions:read"] });
    const items = (/** @type {number} */ count, /** @type {string} */ amount) => ({
      transactions: Array.from({ length: count }, () => ({
        idempotency_key: randomUUID(),
        ...payment(amount),
      })),
    });
    await client.transactions.createBatch(items(transactionsListed, "0.01"));
    const receiver = await startReceiver();
    const events = /** @type {const} */ (["transaction.updated"]);
    const { id: endpoint } = await client.webhookEndpoints.create({
      url: `${receiver.origin}/cost`,
      events: [...events],
    });
    await client.webhookEndpoints.verify(endpoint);
    void receiver.expect(1e12, false, async () => undefined);
    console.log(
      "| request | service ms | PostgreSQL ms | tokens | ms a token | cores, whole quota of a tenant |",
    );
    console.log("|---|---|---|---|---|---|");
    const processes = processesOf(sandbox);
    const counted = callerOf({ ...sandbox, token: await newToken(sandbox) });
    for (const kind of kindsOf(wallets, items, endpoint)) {
      // The code is compiled, and caches are filled.
      for (let count = 0; count < 20; count++) await send(call, kind);
      const endWatch = watchProcesses(processes);
      const endsAt = performance.now() + seconds * 1000;
      let [count, refused] = [0, 0];
      for (; performance.now() < endsAt || count < 20; count++)
        if (!(await send(call, kind)).ok) refused += 1;
      const { service, PostgreSQL } = endWatch();
      const ms = (/** @type {{ cpuSeconds: number } | undefined} */ usage) =>
        ((usage?.cpuSeconds ?? 0) * 1000) / count;
      const [own, database] = [ms(service), ms(PostgreSQL)];
      const tokens = tokensOf(await send(counted, kind));
      const cells = [
        kind.name + (refused > 0 ? ` (${refused} of ${count} refused)` : ""),
        own.toFixed(2),
        database.toFixed(2),
        tokens,
        ((own + database) / tokens).toFixed(2),
        (((own + database) / tokens) * (kind.perSecond / 1000)).toFixed(1),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
    receiver.stop();
  });
}

/** @param {string} amount */
const payment = (amount) => ({ reference: "cost", asset: "USD", amount });

/**
 * With what the default quotas of a tenant are a second. @param {string[]} wallets
 * @param {(count: number, amount: string) => unknown} items @param {string} endpoint @returns {Kind[]}
 */
function kindsOf(wallets, items, endpoint) {
  const large = largestPolicy(wallets);
  const small = { rules: [], default: { action: "allow" } };
  const evaluate = { method: "POST", path: "/v1/policy/evaluate", perSecond: 200 };
  const replace = {
    method: "PUT",
    path: "/v1/policy",
    versioned: /** @type {const} */ (true),
    perSecond: 200,
  };
  const batch = { method: "POST", path: "/v1/transactions/batch", perSecond: 40 };
  const list = { method: "GET", perSecond: 2000 };
  let turn = 0;
  return [
    { name: "GET /v1/assets", ...list, path: "/v1/assets" },
    { name: "GET /v1/transactions?limit=200", ...list, path: "/v1/transactions?limit=200" },
    { name: "GET /v1/events?limit=200", ...list, path: "/v1/events?limit=200" },
    { name: "GET /v1/clients?limit=200", method: "GET", path: "/v1/clients?limit=200", perSecond: 200 },
    {
      name: "POST /v1/transactions",
      method: "POST",
      path: "/v1/transactions",
      body: () => payment("0.01"),
      perSecond: 2000,
    },
    { name: "batch of 1000", ...batch, body: () => items(1000, "0.01") },
    { name: "evaluate the policy in force", ...evaluate, body: () => ({ transaction: payment("1") }) },
    {
      name: "evaluate the largest policy",
      ...evaluate,
      body: () => ({ transaction: payment(`${1 + (turn++ % 500)}`), document: varied(large, turn) }),
    },
    {
      name: "replay of 100 deliveries",
      method: "POST",
      path: "/v1/webhook-deliveries/replay",
      body: () => ({ endpoint_id: endpoint, from_sequence: 1, limit: 100 }),
      perSecond: 200,
    },
    { name: "replace by a small policy", ...replace, body: () => small },
    { name: "replace by the largest policy", ...replace, body: () => varied(large, turn++) },
    {
      name: "batch of 1000 that the largest policy refuses",
      ...batch,
      body: () => items(1000, "5000.00"),
    },
  ];
}

/** Another document each time, as an attacker would send. @param {ReturnType<typeof largestPolicy>} document @param {number} turn */
function varied({ rules, ...rest }, turn) {
  return {
    rules: rules.map((rule, index) => (index === 0 ? { ...rule, name: `turn-${turn}` } : rule)),
    ...rest,
  };
}

/** @param {ReturnType<typeof callerOf>} call @param {Kind} kind */
async function send(call, { method, path, body, versioned }) {
  const headers = versioned === true ? { "if-match": await versionOf(call) } : {};
  const answer = await call(method, path, body?.(), headers);
  await answer.arrayBuffer();
  return answer;
}

/** @type {string | undefined} */
let version;

/** @param {ReturnType<typeof callerOf>} call */
async function versionOf(call) {
  if (version === undefined) {
    const current = await call("GET", "/v1/policy");
    await current.arrayBuffer();
    version = current.headers.get("etag") ?? "";
  }
  const known = version;
  version = `"${Number(known.replaceAll('"', "")) + 1}"`;
  return known;
}

/** The token of a client with the default quotas. @param {import("../sandbox.mjs").Sandbox} sandbox */
async function newToken({ url, client }) {
  const { id, secret } = await client.clients.create({
    name: "counted",
    scopes: [
      "transactions:read",
      "transactions:write",
      "policies:read",
      "policies:manage",
      "clients:manage",
      "events:read",
      "webhooks:manage",
    ],
  });
  const credentials = { clientId: id, secret: secret ?? "" };
  return await createBursar({ baseUrl: url, credentials }).tokens.current();
}

/** What is missing from a bucket that was full. @param {Response} answer */
function tokensOf(answer) {
  const full = Number(/q=(\d+)/.exec(answer.headers.get("ratelimit-policy") ?? "")?.[1]);
  return full - Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
}

/** @param {Pick<import("../sandbox.mjs").Sandbox, "url" | "token">} sandbox */
function callerOf({ url, token }) {
  return (
    /** @type {string} */ method,
    /** @type {string} */ path,
    /** @type {unknown} */ body = undefined,
    /** @type {Record<string, string>} */ headers = {},
  ) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        "idempotency-key": randomUUID(),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}
