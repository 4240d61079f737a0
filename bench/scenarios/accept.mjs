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

/** Durable `POST /v1/transactions` with all features on, against an empty route and against the bare rows. @param {import("../run.mjs").BenchOptions} options */
export async function accept({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await prepareInsertTable(sandbox);
    const emptyRoute = await startEmptyRoute(sandbox);
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox, [emptyRoute]);
    await writePolicy(sandbox.otherClient, 50);
    const ruled = await sandbox.otherClient.tokens.current();
    const sides = [
      {
        name: "empty route",
        measure: () => createTransactions(emptyRoute.url, sandbox.token, seconds),
        processes: processesOfPeer(emptyRoute, sandbox),
      },
      { name: "accept", measure: () => createAndSettle(sandbox, database, seconds), processes },
      {
        name: "accept with 50 rules",
        measure: () => createAndSettle(sandbox, database, seconds, ruled),
        processes,
      },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    try {
      await compare("accept", rounds, sides);
    } finally {
      emptyRoute.stop();
      await database.end();
    }
  });
}

/** Rules of which none matches: each is evaluated for every transaction. @param {import("../sandbox.mjs").Bursar} client @param {number} count */
async function writePolicy(client, count) {
  const rules = Array.from({ length: count }, (_, index) => ({
    name: `rule-${index}`,
    when: {
      amount: { asset: "USD", min: `${1000 + index}.00` },
      destinations: [/** @type {const} */ ("own_wallet")],
    },
    action: /** @type {const} */ ("reject"),
    reason: "Too much.",
  }));
  const { lastResponse } = await client.policy.get();
  await client.policy.replace({ rules, default: { action: "allow" } }, lastResponse.etag ?? "");
}
