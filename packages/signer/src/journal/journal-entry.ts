import type { NumberedWallet } from "../records/wallet-records.js";
import type { SigningIntent } from "../signing/intent.js";

/** A line of the journal. Amounts are decimal strings. */
export type JournalEntry = FirstEntry | WalletEntry | SignatureEntry;

/** The first line. */
interface FirstEntry {
  readonly type: "signer";
  readonly version: 1;
  readonly at: string;
}

/** A wallet was given its numbers, from which its key and its address follow. */
export interface WalletEntry extends NumberedWallet {
  readonly type: "wallet";
  readonly at: string;
}

type Amounts = "amount" | "gasLimit" | "maxFeePerGas" | "maxPriorityFeePerGas";

/** Something was signed. The bytes follow from the fields, because signatures are deterministic. */
export interface SignatureEntry extends Omit<SigningIntent, Amounts>, Readonly<Record<Amounts, string>> {
  readonly type: "signature";
  readonly at: string;
  readonly hash: string;
}

export function signatureEntry(intent: SigningIntent, hash: string, at: string): SignatureEntry {
  const { amount, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = intent;
  return {
    type: "signature",
    at,
    ...intent,
    amount: amount.toString(),
    gasLimit: gasLimit.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    hash,
  };
}

export function intentOfEntry(entry: SignatureEntry): SigningIntent {
  const { type: _, at: __, hash: ___, ...fields } = entry;
  return {
    ...fields,
    amount: BigInt(entry.amount),
    gasLimit: BigInt(entry.gasLimit),
    maxFeePerGas: BigInt(entry.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(entry.maxPriorityFeePerGas),
  };
}
