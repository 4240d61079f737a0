import { connect, createAndSettle, createBatches, processesOf, settle, untilSettled } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const settledAtOnce = 10_000;
/** No round begins later. A round takes about 20 s on a quiet machine. */
const roundsMs = 70_000;

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
      accept: async () => createAndSettle(sandbox, database, seconds / 2, await sandbox.newToken()),
      bulk: async () => {
        const accepted = await createBatches({ ...sandbox, token: await sandbox.newToken() }, seconds / 2);
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
      { name: `${name}, reader at work`, measure: () => withoutBacklog(database, work), processes },
    ]);
    await compare("reader", rounds, sides, { roundsMs });
    await database.end();
  });
}

/**
 * Neither side begins with what another one has left to read. It is skipped: to wait until it was read took most of a run, because a second
 * of bulk leaves tens of thousands of events to a reader that rests four times as long as it works.
 * @param {import("pg").Client} database @param {() => Promise<import("../measure.mjs").Measured>} work
 */
async function withoutBacklog(database, work) {
  await database.query(`INSERT INTO log_positions (tenant_id, sequence) SELECT tenant_id, sequence FROM event_sequences
    ON CONFLICT (tenant_id) DO UPDATE SET sequence = EXCLUDED.sequence`);
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
    return await withoutBacklog(database, async () => {
      await holder.query("BEGIN; SELECT FROM log_positions FOR UPDATE");
      return await work();
    });
  } finally {
    await holder.end();
  }
}
