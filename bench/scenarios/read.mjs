import {
  connect,
  createBatches,
  listIds,
  processesOf,
  processesOfPeer,
  readTransactions,
  untilSettled,
} from "../load.mjs";
import { compare } from "../measure.mjs";
import { startEmptyRoute } from "../peers.mjs";
import { withSandbox } from "../sandbox.mjs";

/** Four times what the service keeps in memory, so that reading them in turn finds few of them there. */
const many = 64_000;
const few = 200;

/** `GET /v1/transactions/{id}`, against an empty route. @param {import("../run.mjs").BenchOptions} options */
export async function read({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const { url, token } = sandbox;
    const ids = await makeTransactions(sandbox);
    const emptyRoute = await startEmptyRoute(sandbox);
    const processes = processesOf(sandbox, [emptyRoute]);
    const again = ids.slice(0, few);
    const sides = [
      {
        name: "empty route",
        measure: () => readTransactions(emptyRoute.url, token, again, seconds),
        processes: processesOfPeer(emptyRoute, sandbox),
      },
      { name: "read again", measure: () => readTransactions(url, token, again, seconds), processes },
      {
        name: "read for the first time",
        measure: () => readTransactions(url, token, ids, seconds),
        processes,
      },
    ];
    try {
      await compare("read", rounds, sides);
    } finally {
      emptyRoute.stop();
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
