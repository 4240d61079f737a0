import { explain, type PlanNode } from "./plans.js";
import type { Recording } from "./recorded-database.js";
import type { TestDatabase } from "./test-database.js";

/** The rows that the statements have read from tables and indexes, also those that they did not want. */
export async function rowsReadBy(database: TestDatabase, recording: Recording): Promise<number> {
  let read = 0;
  await database.session(async (session) => {
    for (const statement of [...recording.values()].flat()) {
      const plan = await explain(session, statement);
      if (plan !== undefined) read += rowsRead(plan);
    }
  });
  return read;
}

function rowsRead(node: PlanNode): number {
  const own =
    node["Relation Name"] === undefined
      ? 0
      : ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) * (node["Actual Loops"] ?? 0);
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}
