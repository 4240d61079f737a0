import { createBatches, insertRows, prepareInsertTable, processesOf } from "../load.mjs";
import { compare } from "../measure.mjs";
import { withSandbox } from "../sandbox.mjs";

/** Items by `POST /v1/transactions/batch`, a thousand at a time, against the bare rows one a commit. @param {import("../run.mjs").BenchOptions} options */
export async function bulk({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await prepareInsertTable(sandbox);
    const processes = processesOf(sandbox);
    const sides = [
      { name: "bulk", measure: () => createBatches(sandbox, seconds), processes },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    await compare("bulk", rounds, sides, [{ of: "bulk", against: "pgbench", target: 4 }]);
  });
}
