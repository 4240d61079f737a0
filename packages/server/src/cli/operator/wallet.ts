import { showId } from "@bursar/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { type AuditDraft, describeAct } from "../../app/audit/audit-entry.js";
import { OperatorError } from "../../operator-error.js";
import { resumeWallet, stateNonce, type WaitingPayment } from "../../store/chain/resume-chain.js";
import type { Database } from "../../store/core/database.js";
import { findWalletToFund } from "../../store/transactions/deposits.js";
import { print } from "../print.js";
import { idArgument } from "./arguments.js";
import { addGiveUpCommand } from "./give-up.js";
import { withDatabase } from "./operator-database.js";

export function addWalletCommand(program: Command): void {
  const wallet = program.command("wallet").description("continue wallets on chains that are halted");
  wallet
    .command("adopt")
    .description(
      "accept what the chain says about a halted wallet: payments whose nonce something else has used fail, and what is missing is recorded as a payout",
    )
    .argument("<wallet>", "the wallet's id", idArgument("wlt"))
    .requiredOption(
      "--nonce <count>",
      "how many of its transactions are final, as a source other than your own nodes says",
      countArgument,
    )
    .option("--pay-waiting", "pay what waits for the wallet; none of it is on the chain already")
    .action(async (walletId: string, options: { nonce: number; payWaiting?: true }) => {
      const { nonce } = options;
      const shown = showId("wlt", walletId);
      const stated = { nonce, paysWaiting: options.payWaiting === true };
      const outcome = await withWallet(walletId, "wallet.adopt", (database, wallet, entry) =>
        stateNonce(database, wallet, stated, entry),
      );
      if (outcome === "unknown") throw new OperatorError(`There is no wallet ${shown} on a chain.`);
      if (typeof outcome === "object") throw new OperatorError(describeWaiting(shown, outcome.waiting));
      print(
        outcome === "stated"
          ? `${shown} goes on when its next comparison with the chain finds ${nonce} final transactions; \`sending\` of the wallet shows it`
          : `${shown} is not halted`,
      );
    });
  addGiveUpCommand(wallet);
  wallet
    .command("resume")
    .description(
      "end the halt of a wallet, when its reason has been dealt with; it is halted again if its balances or nonces still differ from the chain",
    )
    .argument("<wallet>", "the wallet's id", idArgument("wlt"))
    .action(async (walletId: string) => {
      const shown = showId("wlt", walletId);
      const outcome = await withWallet(walletId, "wallet.resume", resumeWallet);
      if (outcome === "unknown") throw new OperatorError(`There is no wallet ${shown} on a chain.`);
      print(outcome === "resumed" ? `${shown} is resumed` : `${shown} is not halted`);
    });
}

function describeWaiting(wallet: string, waiting: readonly WaitingPayment[]): string {
  const list = (isCancelled: boolean) =>
    waiting
      .filter(({ cancelRequested }) => cancelRequested === isCancelled)
      .map(({ id }) => showId("tx", id))
      .join(", ");
  const [paid, cancelled] = [list(false), list(true)];
  return [
    paid === "" ? "" : `Payments of ${wallet} wait and would be paid: ${paid}.`,
    cancelled === "" ? "" : `Payments of ${wallet} are being cancelled and would end: ${cancelled}.`,
    "If the database was restored from a backup, some can be on the chain already. Cancel those that are, tell the clients not to request them again, and repeat the command with --pay-waiting.",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Does something to a wallet that the operator names by its id alone. */
function withWallet<T>(
  walletId: string,
  action: string,
  work: (
    database: Database,
    wallet: { tenantId: string; walletId: string },
    entry: AuditDraft,
  ) => Promise<T | "unknown">,
): Promise<T | "unknown"> {
  return withDatabase(async ({ database, now }) => {
    const found = await findWalletToFund(database, walletId);
    if (found === undefined) return "unknown";
    const { tenantId } = found;
    const entry = describeAct({ by: "operator", tenantId }, action, showId("wlt", walletId), new Date(now()));
    return await work(database, { tenantId, walletId }, entry);
  });
}

function countArgument(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
