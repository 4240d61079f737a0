import { readId } from "@bursar/protocol";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import type { TwoProcesses } from "../two-processes.js";

/**
 * Stops one of the processes while the primary is replaced, as when its machine is paused, and asks it for transactions that it has in
 * memory at the moment in which it continues. Returns those that it shows although the database does not have them.
 */
export async function freezeDuring(
  world: TwoProcesses,
  transactionIds: readonly string[],
  failOver: () => Promise<void>,
): Promise<string[]> {
  const [, { url, child }] = world.services;
  const headers = { authorization: `Bearer ${await world.tokenOf(world.payer)}` };
  const isShown = async (id: string) => {
    const response = await fetch(`${url}/v1/transactions/${id}`, { headers });
    await response.text();
    return response.status === 200;
  };
  // Twice: the first time they are read from the database.
  for (let count = 0; count < 2; count++) await Promise.all(transactionIds.map(isShown));
  child.kill("SIGSTOP");
  await failOver().finally(() => child.kill("SIGCONT"));
  const shown = await Promise.all(transactionIds.map(async (id) => ((await isShown(id)) ? [id] : [])));
  const uuids = transactionIds.map((id) => readId("tx", id) ?? "");
  // The first statement after a failover fails, because the database has changed.
  const stored = await eventually(
    () =>
      world.database
        .query<{ id: string }>(sql`SELECT id FROM transactions WHERE id = ANY(${uuids})`)
        .catch(() => undefined),
    (rows) => rows !== undefined,
  );
  const found = new Set(stored?.map(({ id }) => id));
  return shown.flat().filter((id) => !found.has(readId("tx", id) ?? ""));
}
