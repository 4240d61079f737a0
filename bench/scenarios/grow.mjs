import { loadHistory } from "../history.mjs";
import { connect, createTransactions, processesOf, settle, untilSettled } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

const smallRows = 10_000;
const settledAtOnce = 10_000;

/** Accept and settle with ten million stored transactions, against the same with ten thousand, side by side. @param {import("../run.mjs").BenchOptions} options */
export async function grow({ rounds, seconds, rows = 10_000_000 }) {
  await withSandbox((small) =>
    withSandbox(async (large) => {
      await load(small, smallRows);
      const loaded = await load(large, rows);
      await compareSizes(small, large, { rounds, seconds, rows, loaded });
    }),
  );
}

/**
 * @param {import("../sandbox.mjs").Sandbox} small @param {import("../sandbox.mjs").Sandbox} large
 * @param {{ rounds: number, seconds: number, rows: number, loaded: object }} options
 */
async function compareSizes(small, large, { rounds, seconds, rows, loaded }) {
  const sides = [
    ...(await sidesOf("small", small, large, seconds)),
    ...(await sidesOf("grown", large, small, seconds)),
  ].sort((a, b) => a.name.localeCompare(b.name));
  await compare("grow", rounds, sides, { facts: { smallRows, rows, loaded } });
  for (const { close } of sides) await close();
  console.log(`  ${await countRows(small)} and ${await countRows(large)} transactions are stored at the end`);
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @param {number} rows */
async function load(sandbox, rows) {
  const loaded = await loadHistory(sandbox.databaseUrl, rows);
  console.log(`grow: ${rows} transactions loaded in ${loaded.seconds} s, ${loaded.megabytes} MB on disk`);
  return loaded;
}

/**
 * @param {string} size @param {import("../sandbox.mjs").Sandbox} sandbox @param {import("../sandbox.mjs").Sandbox} other
 * @param {number} seconds
 */
async function sidesOf(size, sandbox, other, seconds) {
  const database = await connect(sandbox.databaseUrl);
  const processes = processesOf(sandbox, [other]);
  const accept = async () => {
    const accepted = await createTransactions(sandbox.url, await sandbox.newToken(), seconds, "random");
    // What is left to settle must not burden the next side.
    await untilSettled(database);
    return accepted;
  };
  return [
    { name: `accept, ${size}`, measure: accept, processes, close: () => database.end() },
    {
      name: `settle, ${size}`,
      measure: () => settle(sandbox, database, settledAtOnce),
      processes,
      close: async () => undefined,
    },
  ];
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox @returns {Promise<string>} */
async function countRows({ databaseUrl }) {
  const database = await connect(databaseUrl);
  const { rows } = await database.query("SELECT count(*) AS count FROM transactions");
  await database.end();
  return rows[0].count;
}
