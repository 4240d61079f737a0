import { createWalletKeys } from "./keys/wallet-keys.js";
import { entropyOfWords, seedOf } from "./seed/mnemonic.js";
import type { Refusal, SignedNonce } from "./signing/decide-signing.js";
import { type FeeLimits, standardFeeLimits } from "./signing/fee-limits.js";
import { readIntent, type SignedQuestion, type SigningIntent, type Wallet } from "./signing/intent.js";
import { createSigningCore, type SignedBytes } from "./signing/signing-core.js";

/** The mnemonic of most development chains. Its keys are public. */
export const publicWords = "test test test test test test test test test test test junk";

/** The rules and keys of a signer without a process, a socket or a journal: for simulations. */
export interface MemorySigner {
  readonly addressesOf: (wallets: readonly Wallet[]) => Promise<string[]>;
  readonly sign: (intents: readonly SigningIntent[]) => Promise<(SignedBytes | Refusal)[]>;
  readonly signedFrom: (
    questions: readonly SignedQuestion[],
  ) => Promise<(readonly SignedNonce[] | Refusal)[]>;
  readonly health: () => Promise<{ isReady: boolean; reason: string | null }>;
}

export function createMemorySigner(
  options: { readonly words?: string; readonly limits?: FeeLimits; readonly now?: () => Date } = {},
): MemorySigner {
  const { words = publicWords, limits = standardFeeLimits, now = () => new Date() } = options;
  const core = createSigningCore({ keys: createWalletKeys(seedOf(entropyOfWords(words))), limits, now });
  return {
    addressesOf: async (wallets) =>
      wallets.map((wallet) => {
        const { answer } = core.addressOf(wallet);
        if (typeof answer !== "string") throw new Error(answer.reason);
        return answer;
      }),
    sign: async (intents) => intents.map((intent) => signOne(intent)),
    signedFrom: async (questions) => questions.map(core.signedFrom),
    health: async () => ({ isReady: true, reason: null }),
  };

  function signOne(intent: SigningIntent): SignedBytes | Refusal {
    const { amount, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = intent;
    const amounts = { amount, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
    const decimal = Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, String(value)]));
    const read = readIntent({ ...intent, ...decimal });
    if (typeof read === "string") return { refused: "INTENT_INVALID", reason: read };
    return core.sign(read).answer;
  }
}
