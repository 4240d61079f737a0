import {
  connect,
  createBatches,
  insertRows,
  prepareInsertTable,
  processesOf,
  untilSettled,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

/** Items by `POST /v1/transactions/batch`, a thousand at a time while the engine settles, against the bare rows one a commit. @param {import("../run.mjs").BenchOptions} options */
export async function bulk({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await prepareInsertTable(sandbox);
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox);
    const createAll = async () => {
      const accepted = await createBatches(sandbox, seconds);
      // What is left to settle must not burden the next side.
      await untilSettled(database);
      return accepted;
    };
    const sides = [
      { name: "bulk", measure: createAll, processes },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    await compare("bulk", rounds, sides);
    await database.end();
  });
}
