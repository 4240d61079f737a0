import type { Command } from "commander";
import { describeAct, nilTenantId } from "../../app/audit/audit-entry.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { listMarkets, resumeMarket } from "../../store/markets/halt-market.js";
import { print } from "../print.js";
import { withDatabase } from "./operator-database.js";

export function addMarketCommand(program: Command): void {
  const market = program.command("market").description("list the markets, and resume one that is halted");
  market
    .command("list")
    .description("list the markets, and why one is halted")
    .action(async () => {
      for (const one of await withDatabase(({ database }) => listMarkets(database))) {
        print(`${one.market}  ${one.haltedReason === null ? "trading" : "halted"}`);
        if (one.haltedReason !== null)
          print(`  since ${one.haltedAt?.toISOString()}: ${printable(one.haltedReason)}`);
      }
    });
  market
    .command("resume")
    .description("end the halt of a market, when its reason has been dealt with")
    .argument("<market>", "the market, such as ETH-USD")
    .action(async (name: string) => {
      const outcome = await withDatabase(({ database, now }) => {
        const entry = describeAct(
          { by: "operator", tenantId: nilTenantId },
          "market.resume",
          name,
          new Date(now()),
        );
        return resumeMarket(database, name, entry);
      });
      if (outcome === "unknown") throw new OperatorError(`There is no market ${name}.`);
      print(outcome === "resumed" ? `${name} is resumed` : `${name} is not halted`);
    });
}
