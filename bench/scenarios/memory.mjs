import { setTimeout as sleep } from "node:timers/promises";
import { isBursarError } from "../../packages/client/dist/index.js";
import { connect, untilSettled } from "../load.mjs";
import { save } from "../measure.mjs";
import { residentMegabytes } from "../processes.mjs";
import { withSandbox } from "../sandbox.mjs";
import { judge } from "../targets.mjs";

const batchSize = 1000;
const batchesAtOnce = 2;
const looksAt = 10;

/** The resident memory of one process with all roles, after a million transactions were accepted over HTTP and settled. @param {import("../run.mjs").BenchOptions} options */
export async function memory({ rows = 1_000_000 }) {
  await withSandbox(async (sandbox) => {
    const database = await connect(sandbox.databaseUrl);
    const before = residentMegabytes(sandbox.pid).current;
    const startedAt = performance.now();
    const part = Math.ceil(rows / batchSize / looksAt);
    /** @type {{ settled: number, megabytes: number }[]} */
    const looks = [];
    let repeated = 0;
    for (let look = 1; look <= looksAt; look++) {
      repeated += await sendBatches(sandbox.client, (look - 1) * part, look * part);
      await untilSettled(database);
      looks.push({
        settled: await countCompleted(database),
        megabytes: residentMegabytes(sandbox.pid).current,
      });
    }
    await database.end();
    report({ before, ...residentMegabytes(sandbox.pid), looks, repeated, startedAt });
  });
}

/** @param {{ before: number, current: number, peak: number, looks: { settled: number, megabytes: number }[], repeated: number, startedAt: number }} seen */
function report({ before, current, peak, looks, repeated, startedAt }) {
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const settled = looks.at(-1)?.settled ?? 0;
  console.log("\nmemory");
  for (const look of looks) console.log(`  after ${String(look.settled).padStart(8)}  ${look.megabytes} MB`);
  console.log(`  ${settled} transactions in ${seconds} s, ${repeated} batches sent again`);
  console.log(`  resident: ${before} MB at the start, ${current} MB now, ${peak} MB at its peak`);
  const results = judge("memory", { bursar: { "resident MB": current } });
  save("memory", { settled, seconds, repeated, before, current, peak, results, looks });
}

/**
 * Sends batches until each is accepted, as a client does: a batch that was not answered with 202 is sent again with the same keys.
 * @param {import("../sandbox.mjs").Bursar} client @param {number} first @param {number} end @returns {Promise<number>} how often one was sent again
 */
async function sendBatches(client, first, end) {
  let next = first;
  let repeated = 0;
  const worker = async () => {
    while (next < end) {
      const body = batchOf(next++);
      while (!(await isAccepted(client, body))) {
        repeated += 1;
        await sleep(500);
      }
    }
  };
  await Promise.all(Array.from({ length: batchesAtOnce }, worker));
  return repeated;
}

/** @param {number} number */
function batchOf(number) {
  const transactions = Array.from({ length: batchSize }, (_, index) => ({
    idempotency_key: `memory-${number}-${index}`,
    reference: "invoice-2026-0001",
    asset: "USD",
    amount: "0.01",
  }));
  return { transactions };
}

/** @param {import("../sandbox.mjs").Bursar} client @param {ReturnType<typeof batchOf>} body */
async function isAccepted(client, body) {
  try {
    const { data } = await client.transactions.createBatch(body);
    return data.every(({ error }) => error === undefined);
  } catch (error) {
    if (isBursarError(error) && error.status === 503) return false;
    throw error;
  }
}

/** @param {import("pg").Client} database */
async function countCompleted(database) {
  const { rows } = await database.query("SELECT count(*) AS count FROM events WHERE state = 'completed'");
  return Number(rows[0].count);
}
