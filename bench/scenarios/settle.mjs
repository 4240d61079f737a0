import { connect, processesOf, settle as settleOnce } from "../load.mjs";
import { compare } from "../measure.mjs";
import { initialisePgbench, runPgbench } from "../programs.mjs";
import { withSandbox } from "../sandbox.mjs";

const count = 20_000;
const scale = 10;

/** From accepted to completed: the engine settles a backlog, against TPC-B. @param {import("../run.mjs").BenchOptions} options */
export async function settle({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    await initialisePgbench(sandbox.databaseUrl, scale);
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox);
    const sides = [
      { name: "settle", measure: () => settleOnce(sandbox, database, count), processes },
      { name: "pgbench TPC-B", measure: () => runPgbench(sandbox.databaseUrl, [], seconds), processes },
    ];
    await compare("settle", rounds, sides);
    await database.end();
  });
}
