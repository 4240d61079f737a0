import {
  connect,
  createBatches,
  listIds,
  processesOf,
  processesOfNothing,
  readTransactions,
  untilSettled,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { startNothing } from "../nothing.mjs";
import { withSandbox } from "../sandbox.mjs";

/** Four times what the service remembers, so that whoever reads them in turn from anywhere on finds few of them in its memory. */
const many = 64_000;
const few = 200;

/** `GET /v1/transactions/{id}`, one of many at a time, against a route that does nothing. @param {import("../run.mjs").BenchOptions} options */
export async function read({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const { url, token } = sandbox;
    const ids = await makeTransactions(sandbox);
    const nothing = await startNothing(sandbox);
    const processes = processesOf(sandbox, [nothing]);
    const again = ids.slice(0, few);
    const sides = [
      {
        name: "nothing",
        measure: () => readTransactions(nothing.url, token, again, seconds),
        processes: processesOfNothing(nothing, sandbox),
      },
      { name: "read", measure: () => readTransactions(url, token, again, seconds), processes },
      {
        name: "read for the first time",
        measure: () => readTransactions(url, token, ids, seconds),
        processes,
      },
    ];
    try {
      await compare("read", rounds, sides, [
        { of: "read", against: "nothing", target: 0.8 },
        { of: "read for the first time", against: "nothing", target: 0.8 },
      ]);
    } finally {
      nothing.stop();
    }
  });
}

/** @param {import("../sandbox.mjs").Sandbox} sandbox */
async function makeTransactions(sandbox) {
  /** @type {string[]} */
  let ids = [];
  while (ids.length < many) {
    await createBatches(sandbox, 2);
    ids = await listIds(sandbox, many);
  }
  const database = await connect(sandbox.databaseUrl);
  await untilSettled(database);
  await database.end();
  return ids;
}
