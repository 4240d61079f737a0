import { type Asset, formatAmount, parseAmount } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { hashRequest } from "../../app/requests/idempotency.js";
import { assertAssetsKept } from "../../compose/assert-assets-kept.js";
import { loadConfig } from "../../config/load-config.js";
import { OperatorError } from "../../operator-error.js";
import { findWalletToFund } from "../../store/transactions/deposits.js";
import { print } from "../print.js";
import { findSandboxChain, fundFromFaucet } from "../sandbox/sandbox-chain.js";
import { type OperatorTools, withDatabase } from "./operator-database.js";
import { keyArgument, keyOption, keyReused, repeatable } from "./repeatable.js";

const bookNetwork = "book";

interface FundArguments {
  hasKey: boolean;
  wallet: string;
  code: string;
  amount: string;
  reference?: string | undefined;
}

const referenceLengthMax = 128;

export function addFundCommand(program: Command): void {
  program
    .command("fund")
    .description(
      "credit a book wallet with money from outside, as a transaction of the kind deposit; in the sandbox, also send coins of its chain to a wallet",
    )
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
          withDatabase((tools) =>
            fund(tools, takeKey, { hasKey: given !== undefined, wallet, code, amount, reference }),
          ),
        );
        print(line);
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
  const { tenantId, walletId, network, address } = await findWallet(tools, wallet, asset);
  const shown = formatAmount(units, asset.decimals);
  if (network !== bookNetwork) {
    if (given.hasKey || reference !== undefined)
      throw new OperatorError("A wallet on a chain is funded by its faucet, without --key and --reference.");
    const hash = await sendFromFaucet({ asset: asset.code, amount: units, address }, network, wallet);
    return `${wallet} will receive ${shown} ${asset.code} when ${hash} is final`;
  }
  const key = takeKey();
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

/** Only the chain of the sandbox has a faucet. Money that no chain has must not be in the ledger. */
async function sendFromFaucet(
  payment: { asset: string; amount: bigint; address: string | null },
  network: string,
  wallet: string,
): Promise<string> {
  const chain = findSandboxChain(loadConfig(process.env));
  if (chain === undefined)
    throw new OperatorError(
      `${wallet} is a wallet of ${network}. Only book wallets can be funded; send the asset to its address instead.`,
    );
  const { address } = payment;
  if (address === null)
    throw new OperatorError(`${wallet} has no address yet. Repeat the command when the wallet is active.`);
  return await fundFromFaucet(chain, { ...payment, address });
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

async function findWallet({ database }: OperatorTools, wallet: string, asset: Asset) {
  const walletId = readId("wlt", wallet);
  const found = walletId === undefined ? undefined : await findWalletToFund(database, walletId);
  if (walletId === undefined || found === undefined)
    throw new OperatorError(`Wallet ${wallet} does not exist.`);
  const { network } = found;
  if (asset.network !== network)
    throw new OperatorError(
      `${asset.code} is an asset of ${asset.network}, and ${wallet} is a wallet of ${network}.`,
    );
  return { walletId, ...found };
}
