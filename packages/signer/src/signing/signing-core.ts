import {
  intentOfEntry,
  type JournalEntry,
  type SignatureEntry,
  type SignaturesEntry,
  signatureEntry,
  type WalletEntry,
} from "../journal/journal-entry.js";
import { keyNumberEnd, type WalletKeys } from "../keys/wallet-keys.js";
import { createSignedAttempts } from "../records/signed-attempts.js";
import { createWalletRecords, type NumberedWallet } from "../records/wallet-records.js";
import { decideSigning, type Refusal, type SignedNonce } from "./decide-signing.js";
import type { FeeLimits } from "./fee-limits.js";
import { type AddressedWallet, findKeyNumbers } from "./find-key-numbers.js";
import { type SignedQuestion, type SigningIntent, transactionOf, type Wallet } from "./intent.js";
import { attachSignature, digestOf } from "./transaction.js";

export interface SignedBytes {
  /** Ready to be sent, in hexadecimal. */
  readonly bytes: string;
  readonly hash: string;
}

/** An answer, and what has to be in the journal before it may be given; undefined if it is there already. */
export interface Decided<T, E extends JournalEntry> {
  readonly answer: T;
  readonly entry?: E;
}

/**
 * The rules without input and output: what was decided counts for the next request at once, so requests that arrive together cannot
 * both get a nonce. The caller records the entries in the order in which they were decided.
 */
export interface SigningCore {
  readonly addressOf: (wallet: Wallet) => Decided<string | Refusal, WalletEntry>;
  readonly sign: (intent: SigningIntent) => Decided<SignedBytes | Refusal, SignatureEntry>;
  /** What was signed for a wallet from a nonce on, in the order of the nonces, and not all of it if there is much. */
  readonly signedFrom: (question: SignedQuestion) => readonly SignedNonce[] | Refusal;
  /** Finds the keys of wallets that have addresses of this seed, but are not in the journal. */
  readonly adopt: (wallets: readonly AddressedWallet[]) => Adoption;
  /** Takes up an entry that was recorded before. */
  readonly replay: (entry: JournalEntry) => void;
  /** Entries that leave the same behind as everything that was recorded, if they are replayed. */
  readonly summarise: (at: string) => Iterable<WalletEntry | SignaturesEntry>;
  readonly limits: FeeLimits;
  readonly counts: () => { wallets: number; signatures: number; indexBytes: number };
}

/** How many nonces one answer has, and how many without a signature are passed over: more than a service has in flight. */
const signedMax = 256;
const unsignedMax = 1024;

/** Either all wallets are adopted, or the ones that are wrong are named. */
type Adoption =
  | { readonly entries: readonly WalletEntry[]; readonly known: number }
  | { readonly refused: readonly AddressedWallet[] };

export interface SigningCoreDeps {
  readonly keys: WalletKeys;
  readonly limits: FeeLimits;
  readonly now: () => Date;
}

export function createSigningCore({ keys, limits, now }: SigningCoreDeps): SigningCore {
  const wallets = createWalletRecords();
  const attempts = createSignedAttempts();
  const remember = (intent: SigningIntent, wallet: number, digest: Uint8Array) =>
    attempts.add({ ...intent, wallet, digest, isCancellation: intent.purpose === "cancellation" });

  const addressOf: SigningCore["addressOf"] = (asked) => {
    const known = wallets.find(asked.walletId);
    if (known !== undefined) return { answer: findWalletFault(asked, known) ?? known.address };
    const numbers = wallets.nextNumbers(asked.tenantId);
    if (numbers.tenantNumber >= keyNumberEnd || numbers.walletNumber >= keyNumberEnd)
      throw new Error("there are no numbers left for this wallet");
    const entry: WalletEntry = {
      type: "wallet",
      at: now().toISOString(),
      ...asked,
      ...numbers,
      address: keys.addressOf(numbers),
    };
    wallets.add(entry);
    return { answer: entry.address, entry };
  };

  const adopt: SigningCore["adopt"] = (given) => {
    const unknown = given.filter(({ walletId }) => wallets.find(walletId) === undefined);
    const known = given.filter(({ walletId }) => wallets.find(walletId) !== undefined);
    const differing = known.filter((wallet) => {
      const own = wallets.find(wallet.walletId);
      return (
        own === undefined || own.address !== wallet.address || findWalletFault(wallet, own) !== undefined
      );
    });
    const { found, missing } = findKeyNumbers(unknown, keys, wallets);
    if (differing.length > 0 || missing.length > 0) return { refused: [...differing, ...missing] };
    const at = now().toISOString();
    const entries = found.map((wallet): WalletEntry => ({ type: "wallet", at, ...wallet }));
    for (const entry of entries) wallets.add(entry);
    return { entries, known: known.length };
  };

  const sign: SigningCore["sign"] = (intent) => {
    const wallet = wallets.find(intent.walletId);
    if (wallet === undefined) return refuse("WALLET_UNKNOWN", `The signer has no wallet ${intent.walletId}.`);
    const fault = findWalletFault(intent, wallet) ?? findAddressFault(intent, wallet);
    if (fault !== undefined) return { answer: fault };
    const transaction = transactionOf(intent);
    const digest = digestOf(transaction);
    const decision = decideSigning(intent, {
      wallet: wallet.record,
      digest,
      attempts: [...attempts.ofTransaction(intent.transactionId)],
      withNonce: attempts.ofNonce(wallet.record, intent.nonce),
      limits,
    });
    if (typeof decision === "object") return { answer: decision };
    const answer = attachSignature(transaction, keys.sign(wallet, wallet.address, digest));
    if (decision === "known") return { answer };
    remember(intent, wallet.record, digest);
    return { answer, entry: signatureEntry(intent, answer.hash, now().toISOString()) };
  };

  const signedFrom: SigningCore["signedFrom"] = (question) => {
    const wallet = wallets.find(question.walletId);
    // Its memory is older than the wallet, so it says nothing about what was signed.
    if (wallet === undefined)
      return refuse("WALLET_UNKNOWN", `The signer has no wallet ${question.walletId}.`).answer;
    const fault = findWalletFault(question, wallet);
    if (fault !== undefined) return fault;
    const signed: SignedNonce[] = [];
    for (let { nonce } = question, last = nonce; nonce - last <= unsignedMax; nonce++) {
      const attempt = attempts.ofNonce(wallet.record, nonce);
      if (attempt === undefined) continue;
      last = nonce;
      signed.push({ nonce, transactionId: attempt.transactionId });
      if (signed.length === signedMax) break;
    }
    return signed;
  };

  const replay = (entry: JournalEntry) => {
    if (entry.type === "wallet") wallets.add(entry);
    if (entry.type === "signatures" && !attempts.addPacked(entry.records))
      throw new Error("the journal has records of signatures that cannot be read");
    if (entry.type !== "signature") return;
    const intent = intentOfEntry(entry);
    const wallet = wallets.find(intent.walletId);
    if (wallet === undefined) throw new Error(`the journal does not have the wallet ${intent.walletId}`);
    remember(intent, wallet.record, digestOf(transactionOf(intent)));
  };

  function* summarise(at: string) {
    for (const wallet of wallets.list()) yield { type: "wallet", at, ...wallet } as const;
    for (const records of attempts.pack()) yield { type: "signatures", records } as const;
  }

  const counts = () => ({
    wallets: wallets.count(),
    signatures: attempts.count(),
    indexBytes: attempts.bytes(),
  });
  return { addressOf, adopt, sign, signedFrom, replay, summarise, limits, counts };
}

/** A wallet keeps its tenant and its network. */
function findWalletFault(asked: Wallet, known: NumberedWallet): Refusal | undefined {
  if (asked.tenantId !== known.tenantId)
    return {
      refused: "WALLET_UNKNOWN",
      reason: `The tenant ${asked.tenantId} has no wallet ${asked.walletId}.`,
    };
  if (asked.network === known.network) return undefined;
  return {
    refused: "INTENT_INVALID",
    reason: `The wallet ${asked.walletId} belongs to ${known.network}, not to ${asked.network}.`,
  };
}

function findAddressFault({ address, walletId }: SigningIntent, known: NumberedWallet): Refusal | undefined {
  if (address === known.address) return undefined;
  return {
    refused: "INTENT_INVALID",
    reason: `The wallet ${walletId} has the address ${known.address}, not ${address}.`,
  };
}

function refuse(refused: Refusal["refused"], reason: string): { answer: Refusal } {
  return { answer: { refused, reason } };
}
