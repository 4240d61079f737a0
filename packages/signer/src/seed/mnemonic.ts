import { pbkdf2Sync, randomBytes } from "node:crypto";
import { entropyToMnemonic, mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { OperatorError } from "../operator-error.js";

const entropyBytes = 32;

/** BIP-39, with the English words and without a passphrase. */
export const newEntropy = (): Uint8Array => new Uint8Array(randomBytes(entropyBytes));

export const wordsOf = (entropy: Uint8Array): string => entropyToMnemonic(entropy, wordlist);

/** The 64 bytes that BIP-32 derives everything from. Node's own PBKDF2 takes 3 ms instead of 200. */
export const seedOf = (entropy: Uint8Array): Uint8Array =>
  new Uint8Array(pbkdf2Sync(wordsOf(entropy), "mnemonic", 2048, 64, "sha512"));

export function entropyOfWords(text: string): Uint8Array {
  const words = text.trim().toLowerCase().split(/\s+/).join(" ");
  try {
    return mnemonicToEntropy(words, wordlist);
  } catch (cause) {
    throw new OperatorError(
      "The mnemonic is not valid: a word is not in the English list of BIP-39, or the checksum is wrong. Compare it with what was written down.",
      { cause },
    );
  }
}
