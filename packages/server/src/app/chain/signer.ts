/** A wallet on a chain, for which the signer holds the key. */
interface SignerWallet {
  tenantId: string;
  walletId: string;
  /** CAIP-2, such as `eip155:1`. A wallet belongs to the network that it was first named with. */
  network: string;
}

/** The last one that the signer accepts: it refuses a whole request with a higher one. */
export const highestNonce = 2 ** 32 - 1;

/** What is to be signed. The signer builds the bytes itself. All addresses are in lower case, with 0x. */
export interface SigningIntent {
  tenantId: string;
  transactionId: string;
  walletId: string;
  network: string;
  /** The sender, as `addressesOf` returned it. */
  address: string;
  nonce: number;
  /** A replacement has the same payment and higher fees. A cancellation pays nothing to the sender itself. */
  purpose: "payment" | "replacement" | "cancellation";
  /** The contract of a token; null for the coin. */
  contract: string | null;
  destination: string;
  amount: bigint;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/** A transaction that is ready to be sent, in hexadecimal. */
export interface SignedBytes {
  bytes: string;
  hash: string;
}

/** A nonce, and the transaction that the signer has bound it to. */
export interface SignedNonce {
  nonce: number;
  transactionId: string;
}

export interface SignerRefusal {
  refused: SignerRefusalCode;
  /** For people; nothing is decided on it. */
  reason: string;
  /**
   * What it has signed instead: the transaction with another nonce, or another transaction with the nonce. A signer of an earlier version does
   * not say it.
   */
  signed?: SignedNonce;
}

/**
 * `DIFFERENT_PAYMENT`: the transaction was signed with another payment or nonce. `NONCE_USED`: the nonce belongs to another transaction.
 * `FEES_NOT_HIGHER`: other fees than the signed ones must both be at least 10 % higher. `CANCELLED`: a cancellation was signed, so the
 * payment is not signed with new fees.
 */
export type SignerRefusalCode =
  | "WALLET_UNKNOWN"
  | "DIFFERENT_PAYMENT"
  | "NONCE_USED"
  | "FEES_NOT_HIGHER"
  | "FEE_ABOVE_LIMIT"
  | "CANCELLED"
  | "INTENT_INVALID";

/** The process that holds the keys. It records what it signs, and never signs two payments for one transaction or nonce. */
export interface Signer {
  /** Idempotent by wallet. In the order given. */
  addressesOf: (wallets: readonly SignerWallet[]) => Promise<string[]>;
  /** Idempotent by intent: the same bytes again. In the order given. Throws SignerUnavailableError. */
  sign: (intents: readonly SigningIntent[]) => Promise<(SignedBytes | SignerRefusal)[]>;
  /**
   * What it has signed for a wallet from a nonce on, in the order of the nonces, and not all of it if there is much, or behind 1,024 nonces without
   * a signature; in the order given. Throws SignerUnavailableError.
   */
  signedFrom: (
    wallets: readonly (SignerWallet & { nonce: number })[],
  ) => Promise<(SignedNonce[] | SignerRefusal)[]>;
  health: () => Promise<{ isReady: boolean; reason: string | null }>;
  /**
   * How many wallets it has given addresses, and what names the run of its process; undefined from one that does not say. The number falls only
   * with another run, after its journal was restored. Throws SignerUnavailableError.
   */
  countWallets: () => Promise<{ count: number; runId: string | undefined }>;
}

/** No usable answer of the signer. What was asked for may have been signed; asking again returns the same bytes. */
export class SignerUnavailableError extends Error {}
