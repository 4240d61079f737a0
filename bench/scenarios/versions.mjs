import {
  connect,
  createAndSettle,
  createBatches,
  listIds,
  processesOf,
  readTransactions,
  settle,
  untilSettled,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const settledAtOnce = 10_000;
const readAgain = 200;

/**
 * Accept, bulk, settle and repeated reads by this checkout and by another built one, side by side: what a change costs or gains.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function versions({ rounds, seconds, against }) {
  if (against === undefined) throw new Error("versions needs --against FOLDER, another built checkout");
  await withSandbox((own) =>
    withSandbox(
      async (other) => {
        const sides = [
          ...(await sidesOf("this", own, other, seconds)),
          ...(await sidesOf("other", other, own, seconds)),
        ].sort((a, b) => a.name.localeCompare(b.name));
        await compare("versions", rounds, sides);
        for (const { close } of sides) await close();
      },
      { checkout: against },
    ),
  );
}

/**
 * @param {string} version @param {import("../sandbox.mjs").Sandbox} sandbox @param {import("../sandbox.mjs").Sandbox} other
 * @param {number} seconds
 */
async function sidesOf(version, sandbox, other, seconds) {
  const database = await connect(sandbox.databaseUrl);
  const processes = processesOf(sandbox, [other]);
  const bulk = async () => {
    const accepted = await createBatches(sandbox, seconds);
    await untilSettled(database);
    return accepted;
  };
  await bulk();
  const ids = await listIds(sandbox, readAgain);
  const close = async () => undefined;
  return [
    {
      name: `accept, ${version}`,
      measure: async () => createAndSettle(sandbox, database, seconds, await sandbox.newToken()),
      processes,
      close: () => database.end(),
    },
    { name: `bulk, ${version}`, measure: bulk, processes, close },
    { name: `settle, ${version}`, measure: () => settle(sandbox, database, settledAtOnce), processes, close },
    {
      name: `read again, ${version}`,
      measure: () => readTransactions(sandbox.url, sandbox.token, ids, seconds),
      processes,
      close,
    },
  ];
}
