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
    const ruled = await sandbox.otherToken();
    await writePolicy(sandbox.url, ruled, 50);
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
      {
        name: "accept with 50 rules",
        measure: () => createTransactions(sandbox.url, ruled, seconds),
        processes,
      },
      { name: "pgbench", measure: () => insertRows(sandbox, seconds), processes },
    ];
    try {
      await compare("accept", rounds, sides, [
        { of: "accept", against: "nothing", target: 0.8 },
        { of: "accept with 50 rules", against: "nothing", target: 0.8 },
        { of: "accept", against: "pgbench", target: 1 },
      ]);
    } finally {
      nothing.stop();
    }
  });
}

/** Rules of which none matches: each is looked at for every transaction. @param {string} url @param {string} token @param {number} count */
async function writePolicy(url, token, count) {
  const rules = Array.from({ length: count }, (_, index) => ({
    name: `rule-${index}`,
    when: { amount: { asset: "USD", min: `${1000 + index}.00` }, destinations: ["own_wallet"] },
    action: "reject",
    reason: "Too much.",
  }));
  const response = await fetch(`${url}/v1/policy`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "if-match": '"0"' },
    body: JSON.stringify({ rules, default: { action: "allow" } }),
  });
  if (!response.ok) throw new Error(`the policy was refused: ${await response.text()}`);
}
