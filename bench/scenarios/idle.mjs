import { setTimeout as sleep } from "node:timers/promises";
import { connect, processesOf } from "../load.mjs";
import { compare } from "../measure.mjs";
import { watchProcesses } from "../processes.mjs";
import { withSandbox } from "../sandbox.mjs";

/** What a service costs that has nothing to do. @param {import("../run.mjs").BenchOptions} options */
export async function idle({ rounds, seconds }) {
  await withSandbox(async (sandbox) => {
    const database = await connect(sandbox.databaseUrl);
    const processes = processesOf(sandbox);
    const measure = async () => {
      const before = await countCommits(database);
      const endWatch = watchProcesses({ service: processes.service });
      await sleep(seconds * 1000);
      const { service } = endWatch();
      const commits = (await countCommits(database)) - before;
      return {
        perSecond: commits / seconds,
        figures: { "CPU % of service": (100 * (service?.cpuSeconds ?? Number.NaN)) / seconds },
      };
    };
    try {
      await compare("idle", rounds, [{ name: "idle", measure, processes }]);
    } finally {
      await database.end();
    }
  });
}

/** @param {import("pg").Client} database */
async function countCommits(database) {
  const { rows } = await database.query(
    "SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(rows[0].count);
}
