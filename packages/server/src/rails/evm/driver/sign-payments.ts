import type {
  AttemptTerms,
  StoredAttempt,
  UnsignedPayment,
  WalletKey,
} from "../../../app/chain/chain-store.js";
import type { SignedBytes, SignerRefusal, SigningIntent } from "../../../app/chain/signer.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import {
  contractOf,
  type DriverContext,
  type FollowedChain,
  haltWallet,
  inUnit,
  positionOf,
} from "./driver-context.js";
import { haltTampered } from "./halt-tampered.js";
import { isolateWallets } from "./isolate-wallets.js";

type SignedPayment = StoredAttempt & WalletKey;

/** How many payments are signed together. */
const signedMax = 64;

/**
 * Has payments signed, and stores the bytes with the event `broadcast`. Nothing is sent here: bytes that nobody has stored could be paid
 * without being known. The intent is what was written before, so that asking again after a crash gives the same bytes. Returns whether
 * anything was done.
 */
export async function signPayments(context: DriverContext, chain: FollowedChain): Promise<boolean> {
  const { network, signer, store } = context;
  const listed = await store.listUnsigned(network.network, signedMax);
  const payments = await haltTampered(context, chain, listed);
  if (payments.length === 0) return false;
  const intents = payments.map((payment) => intentOf(context, payment));
  const answers = await signer.sign(intents);
  const signed: SignedPayment[] = [];
  for (const [index, payment] of payments.entries()) {
    const answer = answers[index];
    const intent = intents[index];
    if (answer === undefined || intent === undefined)
      throw new Error("the signer has answered for other payments than it was asked for");
    const attempt = readAnswer(context, payment, intent, answer);
    if ("refused" in attempt) await handleRefusal(context, chain, payment, attempt);
    else signed.push(attempt);
  }
  await isolateWallets(
    context,
    chain,
    signed,
    (attempt) => attempt,
    (some) => storeSigned(context, chain, some),
  );
  // What was refused is asked for again, but not at once.
  return signed.length > 0;
}

function intentOf({ network }: Pick<DriverContext, "network">, payment: UnsignedPayment): SigningIntent {
  const { tenantId, id, walletId, address, nonce, purpose } = payment;
  const isCancellation = purpose === "cancellation";
  return {
    ...{ tenantId, transactionId: id, walletId, network: network.network, address, nonce, purpose },
    contract: isCancellation ? null : contractOf(network, payment.asset),
    destination: isCancellation ? address : payment.destination,
    amount: isCancellation ? 0n : payment.amount,
    gasLimit: payment.gasLimit,
    maxFeePerGas: payment.maxFeePerGas,
    maxPriorityFeePerGas: payment.maxPriorityFeePerGas,
  };
}

/** The service does not trust what it did not build: the bytes must be exactly the intent. */
function readAnswer(
  { verifySigned }: DriverContext,
  payment: UnsignedPayment,
  intent: SigningIntent,
  answer: SignedBytes | SignerRefusal,
): SignedPayment | SignerRefusal {
  if ("refused" in answer) return answer;
  const { tenantId, id, walletId, number, purpose, gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas } =
    payment;
  try {
    const hash = verifySigned(intent, answer.bytes);
    const terms = { purpose, gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas };
    return { tenantId, id, walletId, number, hash, bytes: answer.bytes, terms };
  } catch (error) {
    return { refused: "INTENT_INVALID", reason: `it has signed something else: ${(error as Error).message}` };
  }
}

/** A fee that is too high for the signer is lowered, or, of a replacement, dropped; any other refusal means that the signer knows more than the database. */
async function handleRefusal(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  { refused, reason }: SignerRefusal,
): Promise<void> {
  const { tenantId, id, walletId, nonce, number } = payment;
  if (refused === "FEE_ABOVE_LIMIT" && number === 1) return await lowerTerms(context, chain, payment);
  if (refused === "FEE_ABOVE_LIMIT") {
    await inUnit(context, positionOf(chain), async (unit) =>
      unit.keepTerms([{ tenantId, id }], chain.headNumber),
    );
    return;
  }
  const explanation = `The signer refuses to sign a payment with nonce ${nonce}: ${reason} (${refused}).`;
  await haltWallet(context, chain, { tenantId, walletId }, "SIGNER_REFUSED", explanation);
}

/**
 * Nothing is signed for this nonce, so its terms can change: to the fees of now if they are lower, and otherwise to an empty transaction if
 * that needs less gas than the payment. If neither helps, it is asked again until fees have fallen. The nonce must be used in any case, or
 * all payments behind it would wait without end. The bound is never above the fee that is held.
 */
async function lowerTerms(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
): Promise<void> {
  const { tenantId, id, address, purpose, gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas } = payment;
  const market = await context.node.market();
  const isLower = market.maxFeePerGas < maxFeePerGas;
  const fees = isLower ? market : { maxFeePerGas, maxPriorityFeePerGas };
  const draft = { from: address, contract: null, destination: address, amount: 0n };
  const [empty] = isLower ? [] : await context.node.estimate([draft]);
  const isSmaller = empty !== undefined && "gasLimit" in empty && empty.gasLimit < gasLimit;
  if (!isLower && !isSmaller) return;
  const terms: AttemptTerms = isSmaller
    ? { ...fees, purpose: "cancellation", gasLimit: empty.gasLimit, dataFee }
    : { ...fees, purpose, gasLimit, dataFee };
  await inUnit(context, positionOf(chain), async (unit) => {
    const state = (await unit.lockPayments([payment])).get(id);
    if (state?.stage === "assigned" && state.attempt === 0)
      unit.setTerms([{ tenantId, id, terms }], chain.headNumber);
  });
}

async function storeSigned(
  context: DriverContext,
  chain: FollowedChain,
  signed: readonly SignedPayment[],
): Promise<void> {
  await inUnit(context, positionOf(chain), async (unit, record) => {
    const senders = await unit.lockSenders(distinctSenders(signed));
    const frozen = new Set(senders.filter(({ isFrozen }) => isFrozen).map(({ walletId }) => walletId));
    const states = await unit.lockPayments(signed);
    const current = signed.filter(({ id, walletId, number }) => {
      const state = states.get(id);
      if (state === undefined || state.stage === "over") return false;
      // What nobody has stored is not sent. The signer returns the same bytes when the payment may go on.
      if (state.stage === "assigned" && (frozen.has(walletId) || state.isHeld)) return false;
      return state.wanted === number && state.attempt < number;
    });
    // Only the first attempt changes the transaction: it is sent from then on, by any of its attempts.
    const events = current.flatMap(({ tenantId, id, hash, number }): RailEvent[] =>
      number === 1 ? [{ tenantId, id, event: { kind: "broadcast", hash } }] : [],
    );
    if (events.length > 0) await record({ events });
    unit.storeAttempts(current, new Date(context.recorder.now()));
  });
}

function distinctSenders(signed: readonly WalletKey[]): WalletKey[] {
  return [...new Map(signed.map(({ tenantId, walletId }) => [walletId, { tenantId, walletId }])).values()];
}
