import { setTimeout as sleep } from "node:timers/promises";
import { connect, createTransactions, processesOf, processesOfPeer, untilSettled } from "../load.mjs";
import { compare } from "../measure.mjs";
import { startPeerService } from "../peers.mjs";
import { withSandbox } from "../sandbox.mjs";

/**
 * Transactions accepted over HTTP and settled, 64 connections: against a plain service with one commit a request and four workers that
 * settle one by one, and against the same with pg-boss and batches of 100. All three use the same PostgreSQL.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function peers({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const plain = await startPeerService("plain-service.mjs", sandbox);
    const pgBoss = await startPeerService("pg-boss-service.mjs", sandbox);
    const database = await connect(sandbox.databaseUrl);
    const { token } = sandbox;
    const sides = [
      {
        name: "bursar",
        measure: () => acceptAndSettle(sandbox.url, token, seconds, () => untilSettled(database)),
        processes: processesOf(sandbox, [plain, pgBoss]),
      },
      {
        name: "plain service",
        measure: () => acceptAndSettle(plain.url, token, seconds, () => untilDone(database, "plain_service")),
        processes: processesOfPeer(plain, sandbox, [pgBoss]),
      },
      {
        name: "pg-boss service",
        measure: () => acceptAndSettle(pgBoss.url, token, seconds, () => untilDone(database, "boss_service")),
        processes: processesOfPeer(pgBoss, sandbox, [plain]),
      },
    ];
    try {
      await compare("peers", rounds, sides);
    } finally {
      plain.stop();
      pgBoss.stop();
      await database.end();
    }
  });
}

/**
 * The second figure counts until the last transaction is settled.
 * @param {string} url @param {string} token @param {number} seconds @param {() => Promise<void>} untilSettled
 */
async function acceptAndSettle(url, token, seconds, untilSettled) {
  const startedAt = performance.now();
  const { perSecond, operations } = await createTransactions(url, token, seconds);
  await untilSettled();
  const settledPerSecond = operations / ((performance.now() - startedAt) / 1000);
  return { perSecond, operations, figures: { "settled/s": settledPerSecond } };
}

/** @param {import("pg").Client} database @param {string} schema */
async function untilDone(database, schema) {
  const open = `SELECT FROM ${schema}.transactions WHERE state = 'accepted' LIMIT 1`;
  while ((await database.query(open)).rowCount !== 0) await sleep(20);
}
