import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct } from "../../app/audit/audit-entry.js";
import { OperatorError } from "../../operator-error.js";
import { resumeWallet } from "../../store/chain/resume-chain.js";
import { findWalletToFund } from "../../store/transactions/deposits.js";
import { idArgument } from "./arguments.js";
import { withDatabase } from "./operator-database.js";

export function addWalletCommand(program: Command): void {
  const wallet = program.command("wallet").description("resume wallets on chains");
  wallet
    .command("resume")
    .description(
      "end the halt of a wallet, when its reason has been dealt with; it is halted again if its balances or nonces still differ from the chain",
    )
    .argument("<wallet>", "the wallet's id", idArgument("wlt"))
    .action(async (walletId: string) => {
      const shown = showId("wlt", walletId);
      const outcome = await withDatabase(async ({ database, now }) => {
        const found = await findWalletToFund(database, walletId);
        if (found === undefined) return "unknown";
        const { tenantId } = found;
        const entry = describeAct({ by: "operator", tenantId }, "wallet.resume", shown, new Date(now()));
        return await resumeWallet(database, { tenantId, walletId }, entry);
      });
      if (outcome === "unknown") throw new OperatorError(`There is no wallet ${shown} on a chain.`);
      console.log(outcome === "resumed" ? `${shown} is resumed` : `${shown} is not halted`);
    });
}
