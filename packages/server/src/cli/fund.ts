import { formatAmount, parseAmount } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import type { Command } from "commander";
import { assertAssetsKept } from "../compose/assert-assets-kept.js";
import { OperatorError } from "../operator-error.js";
import { findTenantOfWallet, fundWallet } from "../store/ledger.js";
import { withDatabase } from "./operator-database.js";

export function addFundCommand(program: Command): void {
  program
    .command("fund")
    .description(
      "bring money in from outside: give a wallet an amount of an asset, as a posting in the ledger",
    )
    .argument("<wallet>", "the wallet's id")
    .argument("<asset>", "the asset's code")
    .argument("<amount>", "how much, as a decimal number")
    .action(async (wallet: string, code: string, amount: string) => {
      await withDatabase(async ({ database, parts, newUuid }) => {
        await assertAssetsKept(database, parts.assets.list);
        const asset = parts.assets.find(code);
        if (asset === undefined) throw new OperatorError(`There is no asset ${code}.`);
        const units = parseAmount(amount, asset.decimals);
        if (typeof units === "string")
          throw new OperatorError(`${amount} is no amount of ${code}: ${units.replace("_", " ")}.`);
        const walletId = readId("wlt", wallet);
        const tenantId = walletId === undefined ? undefined : await findTenantOfWallet(database, walletId);
        if (walletId === undefined || tenantId === undefined)
          throw new OperatorError(`There is no wallet ${wallet}.`);
        await fundWallet(database, { tenantId, walletId, asset: asset.code, amount: units, id: newUuid() });
        console.log(`${wallet} has received ${formatAmount(units, asset.decimals)} ${asset.code}`);
      });
    });
}
