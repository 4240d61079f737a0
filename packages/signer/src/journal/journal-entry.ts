import type { NumberedWallet } from "../records/wallet-records.js";
import type { SigningIntent } from "../signing/intent.js";

/** A line of the journal. Amounts are decimal strings. */
export type JournalEntry = FirstEntry | CompactedEntry | WalletEntry | SignatureEntry | SignaturesEntry;

/** The first line. */
interface FirstEntry {
  readonly type: "signer";
  readonly version: 1;
  readonly at: string;
}

/**
 * The first line of a journal that was compacted: how far the journal went that it replaces, and how many lines follow that sum it up. It has a
 * type of its own, so that a signer that does not know it refuses the journal.
 */
export interface CompactedEntry {
  readonly type: "compacted";
  readonly version: 1;
  readonly at: string;
  readonly replaced: { readonly lines: number; readonly mac: string };
  readonly summaryLines: number;
}

/** What the rules need of signatures that a compacted journal sums up: their records, in base64. */
export interface SignaturesEntry {
  readonly type: "signatures";
  readonly records: string;
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
