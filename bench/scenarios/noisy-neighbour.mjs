import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { createBursar } from "../../packages/client/dist/index.js";
import { connect, dropDeliveries, processesOf, untilSettled } from "../load.mjs";
import { compare } from "../measure.mjs";
import { watchProcesses } from "../processes.mjs";
import { startReceiver } from "../receivers.mjs";
import { withSandbox } from "../sandbox.mjs";

/** @typedef {import("../sandbox.mjs").Sandbox} Sandbox */

/** What a tenant with little to do sends. */
const neighbourPerSecond = 100;
/** Two clients with the default quotas use up what their tenant has. */
const attackerCount = 2;
const endpointCount = 50;
/** @type {import("../../packages/client/dist/index.js").CreateClientBody["scopes"]} */
const scopes = [
  "transactions:write",
  "transactions:read",
  "policies:read",
  "policies:manage",
  "orders:write",
  "webhooks:manage",
];
/** More than a run can deliver. */
const forEver = 1e12;

/**
 * One tenant accepts transactions at a steady rate, alone and while another one sends the most expensive requests that it can think of,
 * without regard to its quotas. @param {import("../run.mjs").BenchOptions} options
 */
export async function noisyNeighbour({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const database = await connect(sandbox.databaseUrl);
    const neighbour = await sandbox.otherClient.tokens.current();
    const receiver = await startReceiver();
    const attacks = await prepareAttacks(sandbox, receiver.origin);
    // From here on it accepts every delivery.
    void receiver.expect(forEver, false, async () => undefined);
    const { "load generator": generator, ...service } = processesOf(sandbox, [receiver]);
    // In reality the receivers are the attacker's own machines, and the load generators are those of clients.
    const processes = {
      ...service,
      receiver: { pid: receiver.pid },
      ...(generator && { "load generator": generator }),
    };
    const payAlone = async () => {
      const args = [sandbox.url, neighbour, String(seconds), String(neighbourPerSecond)];
      const endWatch = watchProcesses(processes);
      const startedAt = performance.now();
      /** @type {{ count: number, refused: number, p50Ms: number, p99Ms: number }} */
      const { count, refused, p50Ms, p99Ms } = JSON.parse(await run("steady.mjs", args));
      const tookSeconds = (performance.now() - startedAt) / 1000;
      // Only of the time in which payments are made: what is left of the attack is removed afterwards.
      const cores = Object.fromEntries(
        Object.entries(endWatch()).map(([name, { cpuSeconds }]) => [
          `cores of ${name}`,
          cpuSeconds / tookSeconds,
        ]),
      );
      const figures = { "p50 ms": p50Ms, "p99 ms": p99Ms, refused, ...cores };
      return { perSecond: count / seconds, figures };
    };
    const payBesideAttack = async () => {
      const attack = run("attack.mjs", [sandbox.url, String(seconds + 1)], JSON.stringify(attacks));
      // The attack is under way when the first payment is due.
      await sleep(500);
      const paid = await payAlone();
      console.log(`  the attack: ${await attack}`);
      await untilSettled(database);
      await dropDeliveries(database);
      return paid;
    };
    try {
      await compare("noisy-neighbour", rounds, [
        { name: "alone", measure: payAlone, processes },
        { name: "beside an attack", measure: payBesideAttack, processes },
      ]);
    } finally {
      await database.end();
      receiver.stop();
    }
  });
}

/** @param {string} program @param {string[]} args @param {string} [input] @returns {Promise<string>} what it prints */
async function run(program, args, input = "") {
  const path = join(import.meta.dirname, "../load", program);
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(input);
  return await text(child.stdout);
}

/**
 * Each item of a batch is judged by the largest policy, which none of its rules decides but the last. @param {Sandbox} sandbox @param {string} receiver
 */
async function prepareAttacks({ url, client }, receiver) {
  const wallets = [];
  for (let count = 0; count < 9; count++)
    wallets.push(await client.wallets.create({ name: `attack-${count}`, purpose: "payout" }));
  const document = largestPolicy(wallets.map(({ id }) => id));
  const { lastResponse } = await client.policy.get();
  await client.policy.replace(document, lastResponse.etag ?? "");
  const { id: endpoint } = await client.webhookEndpoints.create({ url: `${receiver}/attack` });
  await client.webhookEndpoints.verify(endpoint);
  // Each payment that is accepted is one more delivery for each of them.
  for (let count = 1; count < endpointCount; count++) {
    const events = /** @type {const} */ (["transaction.updated"]);
    const { id } = await client.webhookEndpoints.create({ url: `${receiver}/${count}`, events: [...events] });
    await client.webhookEndpoints.verify(id);
  }
  const payment = { reference: "attack", asset: "USD", amount: "0.01" };
  const evaluation = JSON.stringify({ transaction: payment, document });
  const order = JSON.stringify({ market: "ETH-USD", side: "buy", type: "market", quote_size: "10.00" });
  const replay = JSON.stringify({ endpoint_id: endpoint, from_sequence: 1 });
  const attacks = [];
  for (let count = 0; count < attackerCount; count++) {
    const { id, secret } = await client.clients.create({ name: `attacker-${count}`, scopes });
    const credentials = { clientId: id, secret: secret ?? "" };
    const own = await createBursar({ baseUrl: url, credentials }).tokens.current();
    attacks.push(
      { name: "evaluate", token: own, method: "POST", path: "/v1/policy/evaluate", body: evaluation },
      {
        name: "refused",
        token: own,
        method: "POST",
        path: batches,
        items: { ...payment, amount: "5000.00" },
      },
      { name: "accepted", token: own, method: "POST", path: batches, items: payment },
      {
        name: "list",
        token: own,
        method: "GET",
        path: "/v1/transactions?limit=200&state=failed&reference=x",
      },
      {
        name: "replace",
        token: own,
        method: "PUT",
        path: "/v1/policy",
        body: JSON.stringify(document),
        versioned: true,
      },
      { name: "order", token: own, method: "POST", path: "/v1/orders", body: order, keyed: true },
      { name: "replay", token: own, method: "POST", path: replays, body: replay, keyed: true },
    );
  }
  return attacks;
}

const batches = "/v1/transactions/batch";
const replays = "/v1/webhook-deliveries/replay";

/** @typedef {import("../../packages/client/dist/index.js").PolicyDocument} PolicyDocument */

/** 200 rules and 2000 references. @param {string[]} wallets @returns {PolicyDocument} */
export function largestPolicy(wallets) {
  /** @type {PolicyDocument["rules"]} */
  const rules = Array.from({ length: 199 }, (_, index) => ({
    name: `rule-${index}`,
    when: {
      source_wallets: wallets,
      destinations: ["address"],
      amount: { asset: "USD", min: `${1 + index}.00`, max: `${90_000 - index}.00` },
      hours: { from: index % 20, to: (index % 20) + 3, time_zone: index % 2 === 0 ? "UTC" : "Asia/Tokyo" },
    },
    action: index % 2 === 0 ? "allow" : "reject",
    ...(index % 2 === 0 ? {} : { reason: "x".repeat(256) }),
  }));
  rules.push({
    name: "large",
    when: { amount: { asset: "USD", min: "1000.00" } },
    action: "reject",
    reason: "Too much.",
  });
  return { rules, default: { action: "allow" } };
}
