import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { acceptBacklog, connect, dropDeliveries, processesOf, sandboxTenant } from "../load.mjs";
import { compare } from "../measure.mjs";
import { startReceiver } from "../receivers.mjs";
import { withSandbox } from "../sandbox.mjs";

/** @typedef {import("../sandbox.mjs").Sandbox} Sandbox */

const othersPerSecond = 20;
const backlogDefault = 100_000;
const endpointCount = 500;
const batchCount = 500;

/**
 * How long a tenant with little to do waits until its transactions are settled: alone, beside a backlog of another tenant, and beside a batch
 * of another tenant that causes a webhook delivery for each of its 500 endpoints. @param {import("../run.mjs").BenchOptions} options
 */
export async function fairness({ rounds, seconds, rows }) {
  await withSandbox(async (sandbox) => {
    const database = await connect(sandbox.databaseUrl);
    const receiver = await startReceiver();
    const other = await sandbox.otherClient.tokens.current();
    const processes = processesOf(sandbox);
    const settleOfOther = async () => {
      const args = [sandbox.url, other, String(seconds), String(othersPerSecond)];
      const child = spawn(process.execPath, [join(import.meta.dirname, "../load/settled.mjs"), ...args], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      /** @type {{ count: number, p50Ms: number, p99Ms: number }} */
      const { count, p50Ms, p99Ms } = JSON.parse(await text(child.stdout));
      return { perSecond: count / seconds, figures: { "p50 ms": p50Ms, "p99 ms": p99Ms } };
    };
    const besideBacklog = async () => {
      await acceptBacklog(sandbox, database, rows ?? backlogDefault);
      const settled = await settleOfOther();
      await dropRest(database);
      return settled;
    };
    const besideFanOut = async () => {
      await createBatch(sandbox);
      const settled = await settleOfOther();
      await dropRest(database);
      return settled;
    };
    try {
      await addEndpoints(sandbox, receiver.origin);
      await setEndpoints(database, "disabled");
      await compare("fairness", rounds, [
        { name: "alone", measure: settleOfOther, processes },
        { name: "beside a backlog", measure: besideBacklog, processes },
        {
          name: "beside a fan-out",
          measure: async () => {
            await setEndpoints(database, "enabled");
            const settled = await besideFanOut();
            await setEndpoints(database, "disabled");
            return settled;
          },
          processes,
        },
      ]);
    } finally {
      receiver.stop();
      await database.end();
    }
  });
}

/** What is left after a measurement does not burden the next. @param {import("pg").Client} database */
async function dropRest(database) {
  await database.query(
    `DELETE FROM open_transactions WHERE tenant_id = (SELECT tenant_id FROM (${sandboxTenant}) t)`,
  );
  await dropDeliveries(database);
}

/** @param {import("pg").Client} database @param {"enabled" | "disabled"} state */
async function setEndpoints(database, state) {
  await database.query("UPDATE webhook_endpoints SET state = $1 WHERE state IN ('enabled', 'disabled')", [
    state,
  ]);
}

/** @param {Sandbox} sandbox @param {string} origin */
async function addEndpoints({ client }, origin) {
  for (let index = 0; index < endpointCount; index++) {
    const { id } = await client.webhookEndpoints.create({ url: `${origin}/${index}` });
    await client.webhookEndpoints.verify(id);
  }
}

/** @param {Sandbox} sandbox */
async function createBatch({ client }) {
  const transactions = Array.from({ length: batchCount }, () => ({
    idempotency_key: randomUUID(),
    reference: "fan-out",
    asset: "USD",
    amount: "0.01",
  }));
  await client.transactions.createBatch({ transactions });
}
