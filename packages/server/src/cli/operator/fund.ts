import { type Asset, formatAmount, parseAmount } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { hashRequest } from "../../app/requests/idempotency.js";
import { assertAssetsKept } from "../../compose/assert-assets-kept.js";
import { OperatorError } from "../../operator-error.js";
import { findWalletToFund } from "../../store/transactions/deposits.js";
import { type OperatorTools, withDatabase } from "./operator-database.js";
import { keyArgument, keyOption, keyReused, repeatable } from "./repeatable.js";

interface FundArguments {
  wallet: string;
  code: string;
  amount: string;
  reference?: string | undefined;
}

const referenceLengthMax = 128;

export function addFundCommand(program: Command): void {
  program
    .command("fund")
    .description("credit a book wallet with money from outside, as a transaction of the kind deposit")
    .argument("<wallet>", "the wallet's id")
    .argument("<asset>", "the asset's code")
    .argument("<amount>", "the amount, as a decimal number")
    .option(...keyOption, keyArgument)
    .option(
      "--reference <text>",
      "your own name for it, such as the number of a bank statement",
      referenceArgument,
    )
    .action(
      async (
        wallet: string,
        code: string,
        amount: string,
        { key: given, reference }: { key?: string; reference?: string },
      ) => {
        const line = await repeatable(given, (takeKey) =>
          withDatabase((tools) => fund(tools, takeKey, { wallet, code, amount, reference })),
        );
        console.log(line);
      },
    );
}

function referenceArgument(text: string): string {
  if (text.length >= 1 && text.length <= referenceLengthMax) return text;
  throw new InvalidArgumentError(`The reference must have 1 to ${referenceLengthMax} characters.`);
}

/** Funds the wallet, or finds that the same command did; returns what is printed in both cases. */
async function fund(tools: OperatorTools, takeKey: () => string, given: FundArguments): Promise<string> {
  const { database, parts } = tools;
  const { wallet, code, amount, reference } = given;
  await assertAssetsKept(database, parts.assets.list);
  const { asset, units } = readFunds(parts.assets.find(code), code, amount);
  const { tenantId, walletId } = await findBookWallet(tools, wallet, asset);
  const key = takeKey();
  const shown = formatAmount(units, asset.decimals);
  const content = {
    wallet: showId("wlt", walletId),
    asset: asset.code,
    amount: shown,
    reference: reference ?? null,
  };
  const request = { key, hash: hashRequest(content) };
  const funding = { tenantId, walletId, asset, amount: units, reference, request };
  const earlier = await parts.fundWallet(funding);
  if (earlier !== undefined && earlier.requestHash !== request.hash) throw keyReused(key);
  return `${wallet} has received ${shown} ${asset.code}`;
}

function readFunds(asset: Asset | undefined, code: string, amount: string): { asset: Asset; units: bigint } {
  if (asset === undefined) throw new OperatorError(`Asset ${code} does not exist.`);
  const units = parseAmount(amount, asset.decimals);
  if (typeof units === "string")
    throw new OperatorError(`${amount} is not a valid amount of ${code}: ${units.replace("_", " ")}.`);
  if (units > asset.maximum)
    throw new OperatorError(
      `${amount} is above the maximum of ${formatAmount(asset.maximum, asset.decimals)} ${asset.code}.`,
    );
  return { asset, units };
}

async function findBookWallet({ database }: OperatorTools, wallet: string, asset: Asset) {
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
    throw new OperatorError(`${asset.code} is an asset of ${asset.network}. Only book assets can be funded.`);
  return { tenantId, walletId };
}
