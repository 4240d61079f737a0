import { formatAmount, parseAmount } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct } from "../../app/audit/audit-entry.js";
import { assertAssetsKept } from "../../compose/assert-assets-kept.js";
import { OperatorError } from "../../operator-error.js";
import { findWalletToFund, fundWallet } from "../../store/ledger/fund-wallet.js";
import { withDatabase } from "./operator-database.js";

export function addFundCommand(program: Command): void {
  program
    .command("fund")
    .description("credit a book wallet with money from outside, as a posting in the ledger")
    .argument("<wallet>", "the wallet's id")
    .argument("<asset>", "the asset's code")
    .argument("<amount>", "the amount, as a decimal number")
    .action(async (wallet: string, code: string, amount: string) => {
      await withDatabase(async ({ database, parts, newUuid }) => {
        await assertAssetsKept(database, parts.assets.list);
        const asset = parts.assets.find(code);
        if (asset === undefined) throw new OperatorError(`Asset ${code} does not exist.`);
        const units = parseAmount(amount, asset.decimals);
        if (typeof units === "string")
          throw new OperatorError(`${amount} is not a valid amount of ${code}: ${units.replace("_", " ")}.`);
        if (units > asset.maximum)
          throw new OperatorError(
            `${amount} is above the maximum of ${formatAmount(asset.maximum, asset.decimals)} ${asset.code}.`,
          );
        const walletId = readId("wlt", wallet);
        const found = walletId === undefined ? undefined : await findWalletToFund(database, walletId);
        if (walletId === undefined || found === undefined)
          throw new OperatorError(`Wallet ${wallet} does not exist.`);
        const { tenantId, network } = found;
        if (network !== "book")
          throw new OperatorError(
            `${wallet} is a wallet of ${network}. Only book wallets can be funded; send the asset to its address instead.`,
          );
        if (asset.network !== network)
          throw new OperatorError(
            `${asset.code} is an asset of ${asset.network}. Only book assets can be funded.`,
          );
        const origin = { by: "operator", tenantId } as const;
        const audit = describeAct(origin, "wallet.fund", showId("wlt", walletId), new Date());
        const funding = { tenantId, walletId, asset: asset.code, amount: units, id: newUuid(), audit };
        await fundWallet(database, funding);
        console.log(`${wallet} has received ${formatAmount(units, asset.decimals)} ${asset.code}`);
      });
    });
}
