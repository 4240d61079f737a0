import {
  connect,
  createAndSettle,
  createTransactions,
  insertRows,
  prepareInsertTable,
  processesOf,
  processesOfPeer,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { startEmptyRoute } from "../peers.mjs";
import { withSandbox } from "../sandbox.mjs";

/**
 * CPU time for a transaction that is accepted over HTTP and settled: of the service against a request to an empty route, of
 * PostgreSQL against one row a commit. CPU time depends far less on other work on the machine than rates do.
 * @param {import("../run.mjs").BenchOptions} options
 */
export async function cost({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await prepareInsertTable(sandbox);
    const emptyRoute = await startEmptyRoute(sandbox);
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox, [emptyRoute]);
    const sides = [
      {
        name: "empty route",
        measure: () => createTransactions(emptyRoute.url, sandbox.token, seconds),
        processes: processesOfPeer(emptyRoute, sandbox),
      },
      { name: "transaction", measure: () => createAndSettle(sandbox, database, seconds), processes },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    try {
      await compare("cost", rounds, sides);
    } finally {
      emptyRoute.stop();
      await database.end();
    }
  });
}
