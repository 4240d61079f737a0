import { showId } from "@bursar/protocol";
import { type Command, InvalidArgumentError } from "commander";
import { describeAct } from "../../app/audit/audit-entry.js";
import { shownPaymentId } from "../../app/transactions/approvals/present-approval.js";
import { OperatorError } from "../../operator-error.js";
import { giveUpNonce } from "../../rails/evm/give-up-nonce.js";
import { createSignerClient } from "../../rails/evm/signer-client.js";
import { findOpen, isFreeNonce, recordGivenUp } from "../../store/chain/resume-chain.js";
import { listBoundNonces } from "../../store/chain/wallets/bound-nonces.js";
import { findWalletToFund } from "../../store/transactions/deposits.js";
import { print } from "../print.js";
import { idArgument } from "./arguments.js";
import { loadOperatorSettings, withDatabase } from "./operator-database.js";

interface GiveUpOptions {
  nonce: number;
  maxFeeGwei: bigint;
  tipGwei: bigint;
  gas: bigint;
}

export function addGiveUpCommand(wallet: Command): void {
  wallet
    .command("give-up")
    .description(
      "print an empty transaction with a nonce that the signer has signed for a transaction which the database no longer has, or has given no nonce, and cancel that, or with a nonce that nothing was signed with, below one that was; send it to the chain, and adopt the wallet when it is final",
    )
    .argument("<wallet>", "the wallet's id", idArgument("wlt"))
    .requiredOption("--nonce <number>", "the nonce", (text) => Number(wholeArgument(text)))
    .requiredOption(
      "--max-fee-gwei <gwei>",
      "the most to pay per gas, 10 % above what was signed",
      gweiArgument,
    )
    .requiredOption("--tip-gwei <gwei>", "the priority fee, 10 % above what was signed", gweiArgument)
    .option("--gas <limit>", "the gas limit, above 21000 where data costs gas", wholeArgument, 21_000n)
    .action(async (walletId: string, options: GiveUpOptions) => {
      for (const line of await giveUp(walletId, options)) print(line);
    });
}

async function giveUp(walletId: string, options: GiveUpOptions): Promise<string[]> {
  const { nonce, maxFeeGwei: maxFeePerGas, tipGwei: maxPriorityFeePerGas, gas: gasLimit } = options;
  const shown = showId("wlt", walletId);
  const { signer_socket: socketPath } = loadOperatorSettings();
  if (socketPath === undefined) throw new OperatorError("signer_socket is not set.");
  const signer = createSignerClient({ socketPath });
  try {
    return await withDatabase(async ({ database, newUuid, now }) => {
      const found = await findWalletToFund(database, walletId);
      if (found === undefined || found.address === null)
        throw new OperatorError(`There is no wallet ${shown} on a chain.`);
      const { tenantId, network } = found;
      const address = found.address.toLowerCase();
      const entry = describeAct({ by: "operator", tenantId }, "wallet.give_up", shown, new Date(now()));
      const outcome = await giveUpNonce(
        {
          signer,
          findOpen: (id) => findOpen(database, { tenantId, id }),
          record: (openId) => recordGivenUp(database, tenantId, openId, entry),
          isFree: (free) => isFreeNonce(database, { tenantId, walletId }, free),
          listBound: () => listBoundNonces(database, [{ tenantId, walletId }]),
          newUuid,
        },
        { tenantId, walletId, network, address },
        { nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas },
      );
      if ("refused" in outcome) throw new OperatorError(outcome.refused);
      const { transactionId } = outcome;
      const instead = transactionId === null ? "" : `, instead of ${shownPaymentId(transactionId)}`;
      return [
        `An empty transaction with nonce ${nonce} of ${found.address}${instead}:`,
        outcome.bytes,
        `Send it to ${network} with eth_sendRawTransaction. When ${outcome.hash}, or the transaction that it replaces, is final, the wallet is halted with NONCE_USED_ELSEWHERE: continue it with \`bursar wallet adopt ${shown} --nonce <count>\`.`,
      ];
    });
  } finally {
    signer.close();
  }
}

function wholeArgument(text: string): bigint {
  if (/^\d{1,10}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** In wei. */
function gweiArgument(text: string): bigint {
  const [, whole, part = ""] = /^(\d{1,9})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new InvalidArgumentError("It must be a number of gwei with at most 9 decimals.");
  return BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, "0"));
}
