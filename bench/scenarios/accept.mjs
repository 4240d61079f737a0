import {
  createTransactions,
  insertRows,
  prepareInsertTable,
  processesOf,
  processesOfNothing,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { startNothing } from "../nothing.mjs";
import { withSandbox } from "../sandbox.mjs";

/** Durable `POST /v1/transactions` with all features on, against a route that does nothing and against the bare rows. @param {import("../run.mjs").BenchOptions} options */
export async function accept({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await prepareInsertTable(sandbox);
    const nothing = await startNothing(sandbox);
    const processes = processesOf(sandbox, [nothing]);
    const sides = [
      {
        name: "nothing",
        measure: () => createTransactions(nothing.url, sandbox.token, seconds),
        processes: processesOfNothing(nothing, sandbox),
      },
      {
        name: "accept",
        measure: () => createTransactions(sandbox.url, sandbox.token, seconds),
        processes,
      },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    try {
      await compare("accept", rounds, sides, [
        { of: "accept", against: "nothing", target: 0.8 },
        { of: "accept", against: "pgbench", target: 1 },
      ]);
    } finally {
      nothing.stop();
    }
  });
}
