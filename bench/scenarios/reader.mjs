import { setTimeout as sleep } from "node:timers/promises";
import { connect, createAndSettle, createBatches, processesOf, settle, untilSettled } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const settledAtOnce = 10_000;

/**
 * What the reader of the event log costs those who accept and settle: the same work with the reader stopped and at work, side by side.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function reader({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox);
    /** @type {Record<string, () => Promise<import("../measure.mjs").Measured>>} */
    const works = {
      settle: () => settle(sandbox, database, settledAtOnce),
      accept: async () => createAndSettle(sandbox, database, seconds, await sandbox.newToken()),
      bulk: async () => {
        const accepted = await createBatches({ ...sandbox, token: await sandbox.newToken() }, seconds);
        await untilSettled(database);
        return accepted;
      },
    };
    const sides = Object.entries(works).flatMap(([name, work]) => [
      {
        name: `${name}, reader stopped`,
        measure: () => withReaderStopped(sandbox, database, work),
        processes,
      },
      { name: `${name}, reader at work`, measure: () => afterReading(database, work), processes },
    ]);
    await compare("reader", rounds, sides);
    await database.end();
  });
}

/**
 * Neither side begins with what another one has left to read.
 * @param {import("pg").Client} database @param {() => Promise<import("../measure.mjs").Measured>} work
 */
async function afterReading(database, work) {
  const behind = `SELECT FROM event_sequences s LEFT JOIN log_positions p USING (tenant_id)
    WHERE s.sequence > coalesce(p.sequence, 0) LIMIT 1`;
  while ((await database.query(behind)).rowCount !== 0) await sleep(50);
  const { perSecond } = await work();
  return { perSecond };
}

/**
 * The reader skips logs whose position is locked.
 * @param {import("../sandbox.mjs").Sandbox} sandbox @param {import("pg").Client} database
 * @param {() => Promise<import("../measure.mjs").Measured>} work
 */
async function withReaderStopped({ databaseUrl }, database, work) {
  const holder = await connect(databaseUrl);
  try {
    return await afterReading(database, async () => {
      await holder.query("BEGIN; SELECT FROM log_positions FOR UPDATE");
      return await work();
    });
  } finally {
    await holder.end();
  }
}
