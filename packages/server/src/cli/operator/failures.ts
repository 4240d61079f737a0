import { readId, showId } from "@bursar/protocol";
import type { Command } from "commander";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import {
  type FailedRow,
  type FailureTable,
  listFailures,
  retryFailures,
} from "../../store/core/rows/failures.js";
import { orderFailures } from "../../store/markets/claim-orders.js";
import { transactionFailures } from "../../store/transactions/settlement.js";
import { walletFailures } from "../../store/wallets/activate-wallets.js";
import { deliveryFailures } from "../../store/webhooks/webhook-sending.js";
import { print } from "../print.js";
import { withDatabase } from "./operator-database.js";

/** Every kind of row that records its failures, with the prefix of its ids. */
const kinds: readonly { prefix: Parameters<typeof showId>[0]; table: FailureTable }[] = [
  { prefix: "tx", table: transactionFailures },
  { prefix: "ord", table: orderFailures },
  { prefix: "wlt", table: walletFailures },
  { prefix: "dlv", table: deliveryFailures },
];

const listMax = 100;

export function addFailuresCommand(program: Command): void {
  const failures = program
    .command("failures")
    .description("list and retry rows that the service could not process");
  failures
    .command("list")
    .description("list failed rows: id, tenant, number of attempts, time of the next one, last error")
    .action(async () => {
      await withDatabase(async ({ database }) => {
        let listed = 0;
        for (const { prefix, table } of kinds) {
          const rows = await listFailures(database, table, listMax);
          for (const row of rows) print(lineOf(prefix, row));
          if (rows.length === listMax)
            print(`There may be more of the kind ${table.kind}: only the oldest ${listMax} are listed.`);
          listed += rows.length;
        }
        if (listed === 0) print("No row has failed.");
      });
    });
  failures
    .command("retry")
    .description("try a failed row again now, or all of them")
    .argument("[id]", "the id of a row that `bursar failures list` shows")
    .option("--all", "retry every failed row")
    .action(async (id: string | undefined, { all = false }: { all?: boolean }) => {
      if ((id === undefined) !== all) throw new OperatorError("Name the id of one row, or pass --all.");
      const retried = await withDatabase(({ database, now }) =>
        retry(id, (table, rowId) => retryFailures(database, table, rowId, new Date(now()))),
      );
      if (id !== undefined && retried === 0)
        throw new OperatorError(`${id} is not a failed row: see \`bursar failures list\`.`);
      print(`${retried} ${retried === 1 ? "row is" : "rows are"} due now.`);
    });
}

async function retry(
  id: string | undefined,
  retryRows: (table: FailureTable, id: string | "all") => Promise<number>,
): Promise<number> {
  let retried = 0;
  for (const { prefix, table } of kinds) {
    const rowId = id === undefined ? "all" : readId(prefix, id);
    if (rowId !== undefined) retried += await retryRows(table, rowId);
  }
  return retried;
}

/** The error may contain anything a client has sent, so it is made safe for a terminal. */
function lineOf(prefix: Parameters<typeof showId>[0], row: FailedRow): string {
  // What was set aside has no time, and waits for a retry: `infinity` comes as a number.
  const isSetAside = String(row.retryAt) === "Infinity";
  const next = row.retryAt instanceof Date ? row.retryAt.toISOString() : isSetAside ? "set aside" : "now";
  const attempts = `${row.attempts} ${row.attempts === 1 ? "attempt" : "attempts"}`;
  return [showId(prefix, row.id), showId("tnt", row.tenantId), attempts, next, printable(row.lastError)].join(
    "  ",
  );
}
