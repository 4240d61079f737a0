import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct } from "../../app/audit/audit-entry.js";
import { createEventLog } from "../../store/events/events.js";
import { listTotalsAhead, repairTotals } from "../../store/policy/repair-totals.js";
import { print } from "../print.js";
import { withDatabase } from "./operator-database.js";

export function addTotalsCommand(program: Command): void {
  const totals = program.command("totals").description("repair the sums behind rolling limits");
  totals
    .command("repair")
    .description(
      "find sums that a wrong clock has dated in the future, so that limits stay used up; with --apply, move them to the current time",
    )
    .option("--apply", "change the sums; without it they are only listed")
    .action(({ apply = false }: { apply?: boolean }) => repair(apply));
}

async function repair(isApplied: boolean): Promise<void> {
  await withDatabase(async ({ database, now }) => {
    const found = await listTotalsAhead(database, new Date(now()));
    if (found.length === 0) return print("No sum is dated in the future.");
    // The service reads the sums whenever it judges something, so nobody has to be woken.
    const events = createEventLog({ publish: () => undefined });
    for (const { tenantId, count, latestAt } of found) {
      const tenant = showId("tnt", tenantId);
      if (isApplied) {
        const at = new Date(now());
        const audit = describeAct({ by: "operator", tenantId }, "totals.repair", tenant, at);
        const repaired = await repairTotals(database, events, { tenantId, now: at, audit });
        print(`${tenant}  ${repaired} sums were dated up to ${latestAt.toISOString()}, repaired`);
      } else print(`${tenant}  ${count} sums are dated up to ${latestAt.toISOString()}`);
    }
    if (!isApplied) print("Nothing was changed. Check the clocks, then run `bursar totals repair --apply`.");
  });
}
