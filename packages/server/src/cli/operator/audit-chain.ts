import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { NodeUnavailableError } from "../../app/chain/chain-node.js";
import { OperatorError } from "../../operator-error.js";
import { print } from "../print.js";
import { withDatabase } from "./operator-database.js";

/** Compares what the books say with what the chains have. */
export function addChainAudit(audit: Command): void {
  audit
    .command("chain")
    .description(
      "compare the balances and nonces of every wallet on a chain with its nodes, at the last block whose transactions have ended",
    )
    .action(async () => {
      const audits = await withDatabase(({ parts }) => parts.auditChains()).catch((error: unknown) => {
        if (error instanceof NodeUnavailableError) throw new OperatorError(error.message, { cause: error });
        throw error;
      });
      if (audits.length === 0) throw new OperatorError("No network is configured. Set `networks`.");
      for (const { network, wallets, differences } of audits) {
        print(`${differences.length === 0 ? "equal    " : "DIFFERENT"} ${network}, ${wallets} wallets`);
        for (const { wallet, difference } of differences)
          print(`          ${showId("wlt", wallet.walletId)}: ${difference}`);
      }
      if (audits.some(({ differences }) => differences.length > 0))
        throw new OperatorError("The books differ from the chain as listed above.");
    });
}
