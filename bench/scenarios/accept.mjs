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
    const ruled = await sandbox.otherToken();
    await writePolicy(sandbox.url, ruled, 50);
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

/** Rules of which none matches: each is evaluated for every transaction. @param {string} url @param {string} token @param {number} count */
async function writePolicy(url, token, count) {
  const rules = Array.from({ length: count }, (_, index) => ({
    name: `rule-${index}`,
    when: { amount: { asset: "USD", min: `${1000 + index}.00` }, destinations: ["own_wallet"] },
    action: "reject",
    reason: "Too much.",
  }));
  const headers = { authorization: `Bearer ${token}` };
  const version = (await fetch(`${url}/v1/policy`, { headers })).headers.get("etag") ?? "";
  const response = await fetch(`${url}/v1/policy`, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json", "if-match": version },
    body: JSON.stringify({ rules, default: { action: "allow" } }),
  });
  if (!response.ok) throw new Error(`the policy was refused: ${await response.text()}`);
}
