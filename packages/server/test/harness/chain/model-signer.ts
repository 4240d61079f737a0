import type { SignedBytes, Signer, SignerRefusal, SigningIntent } from "../../../src/app/chain/signer.js";
import { hashOfBytes, writeBytes } from "./model-chain.js";

/** How many nonces without a signature it passes over in a list. */
const unsignedMax = 1024;

/**
 * A signer that remembers what it has signed: the same bytes for the same intent, and nothing else for a known transaction or nonce, unless it is
 * a replacement with higher fees or a cancellation. It outlives the service's processes.
 */
export function createModelSigner(reach: () => Promise<void>): Signer {
  const byNonce = new Map<string, SigningIntent[]>();
  const nonceOf = new Map<string, string>();

  function sign(intent: SigningIntent): SignedBytes | SignerRefusal {
    const slot = `${intent.address} ${intent.nonce}`;
    const signed = byNonce.get(slot) ?? [];
    const bytes = writeBytes(intent);
    if (signed.some((one) => writeBytes(one) === bytes)) return { bytes, hash: hashOfBytes(bytes) };
    const known = nonceOf.get(intent.transactionId);
    if (known !== undefined && known !== slot)
      return { ...refusal("DIFFERENT_PAYMENT"), ...signedWith(intent, known) };
    const last = signed.at(-1);
    if (last !== undefined) {
      if (last.transactionId !== intent.transactionId)
        return {
          ...refusal("NONCE_USED"),
          signed: { nonce: intent.nonce, transactionId: last.transactionId },
        };
      const payment = signed.find(({ purpose }) => purpose !== "cancellation");
      const isPayment = intent.purpose !== "cancellation";
      if (isPayment && payment !== undefined && !isSamePayment(intent, payment))
        return refusal("DIFFERENT_PAYMENT");
      if (isPayment && last.purpose === "cancellation") return refusal("CANCELLED");
      if (intent.purpose === "payment" || intent.maxFeePerGas <= last.maxFeePerGas)
        return refusal("FEES_NOT_HIGHER");
    }
    byNonce.set(slot, [...signed, intent]);
    nonceOf.set(intent.transactionId, slot);
    return { bytes, hash: hashOfBytes(bytes) };
  }

  return {
    addressesOf: () => Promise.reject(new Error("addresses are given by the test")),
    sign: async (intents) => {
      await reach();
      return intents.map(sign);
    },
    signedFrom: async (wallets) => {
      await reach();
      return wallets.map(({ walletId, nonce }) => {
        const listed = [...byNonce.values()]
          .flatMap(([first]) => (first === undefined ? [] : [first]))
          .filter((one) => one.walletId === walletId && one.nonce >= nonce)
          .map((one) => ({ nonce: one.nonce, transactionId: one.transactionId }))
          .sort((a, b) => a.nonce - b.nonce);
        const end = listed.findIndex(
          (one, index) => one.nonce - (listed[index - 1]?.nonce ?? nonce) > unsignedMax,
        );
        return end < 0 ? listed : listed.slice(0, end);
      });
    },
    health: async () => ({ isReady: true, reason: null }),
    countWallets: async () => ({ count: 0, runId: undefined }),
  };
}

function isSamePayment(a: SigningIntent, b: SigningIntent): boolean {
  return a.contract === b.contract && a.destination === b.destination && a.amount === b.amount;
}

/** Another wallet has other nonces. */
function signedWith({ transactionId, address }: SigningIntent, slot: string): Pick<SignerRefusal, "signed"> {
  const [of, nonce] = slot.split(" ");
  return of === address ? { signed: { nonce: Number(nonce), transactionId } } : {};
}

function refusal(refused: SignerRefusal["refused"]): SignerRefusal {
  return { refused, reason: "something else was signed before" };
}
