import type {
  AttemptTerms,
  PaymentFacts,
  PaymentState,
  StoredAttempt,
  UnsignedPayment,
  WalletKey,
} from "../../../app/chain/chain-store.js";
import {
  type SignedBytes,
  type SignerRefusal,
  SignerUnavailableError,
  type SigningIntent,
} from "../../../app/chain/signer.js";
import { maySend, stopUnsigned } from "../../../app/chain/stop-payment.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import { haltRefused } from "../adopt/reclaim-nonces.js";
import { contractOf, type DriverContext, type FollowedChain, inUnit, positionOf } from "./driver-context.js";
import { haltTampered } from "./halt-tampered.js";
import { isolateWallets } from "./isolate-wallets.js";
import {
  createRefusedReads,
  lowerTerms,
  type RefusedReads,
  raiseCancellation,
  raisePayment,
  waitForLimit,
} from "./refused-terms.js";
import { lookOf, pageAfter, type SigningTurn, turnPage } from "./signing-turn.js";
import { stopUnsignedPayments } from "./stop-unsigned.js";

type SignedPayment = StoredAttempt & WalletKey;

/**
 * How many payments are signed in one step and stored together, and how many the signer is asked for at once: it signs the next ones while
 * the service checks these.
 */
const signedMax = 256;
const askedMax = 64;
/** How many refusals of a page are handled, each in an SQL transaction of its own. */
const refusedMax = 64;

/**
 * Has payments signed, and stores the bytes with the event `broadcast`. Nothing is sent here: bytes that nobody has stored could be paid
 * without being known. The intent is what was written before, so that asking again after a crash gives the same bytes. Returns whether
 * anything was done, or a page is left of this round.
 */
export async function signPayments(
  context: DriverContext,
  chain: FollowedChain,
  turn: SigningTurn,
): Promise<boolean> {
  const { network, store: tables } = context;
  const look = lookOf(turn);
  const listed = await tables.listUnsigned(network.network, signedMax, pageAfter(turn));
  const ids = listed.map(({ id }) => id);
  const hasMore = turnPage(turn, ids, ids.length === signedMax);
  const authentic = await haltTampered(context, chain, listed);
  const { payments, isStopped } = await stopUnsignedPayments(context, chain, authentic);
  if (payments.length === 0) return isStopped || hasMore;
  const { signed, refused, failure } = await askSigner(context, payments);
  const failures: unknown[] = failure === undefined ? [] : [failure];
  const attempt = (work: Promise<unknown>) => work.catch((error: unknown) => void failures.push(error));
  const store = (some: readonly SignedPayment[]) => storeSigned(context, chain, some);
  await attempt(isolateWallets(context, chain, signed, (one) => one, store));
  const handled = refusedInTurn(look, refused);
  const reads = createRefusedReads(
    context.node,
    handled.map(([payment]) => payment),
  );
  for (const [payment, refusal] of handled) {
    await chain.keepLease();
    await attempt(handleRefusal(context, chain, payment, { refusal, reads }));
    // It would be waited for once more for each of them.
    if (failures.some((error) => error instanceof SignerUnavailableError)) break;
  }
  if (failures.length > 0) throw failures[0];
  // What was refused is asked for again, but not at once.
  return signed.length > 0 || isStopped || hasMore;
}

type Refused = [UnsignedPayment, SignerRefusal];

/** Others at each look, in the order of their ids, so that those which are refused again and again do not keep others from their turn. */
export function refusedInTurn(look: number, refused: readonly Refused[]): Refused[] {
  const ordered = refused.toSorted(([{ id: one }], [{ id: other }]) => (one < other ? -1 : 1));
  const first = ordered.length === 0 ? 0 : (look * refusedMax) % ordered.length;
  return [...ordered.slice(first), ...ordered.slice(0, first)].slice(0, refusedMax);
}

interface Answered {
  signed: SignedPayment[];
  refused: Refused[];
  /** Why the signer was not asked for the rest: what it has signed before is stored all the same. */
  failure: unknown;
}

async function askSigner(context: DriverContext, payments: readonly UnsignedPayment[]): Promise<Answered> {
  const answered: Answered = { signed: [], refused: [], failure: undefined };
  const intents = payments.map((payment) => intentOf(context, payment));
  const ask = async (start: number) => {
    const asked = intents.slice(start, start + askedMax);
    const answers = asked.length === 0 ? [] : await context.signer.sign(asked);
    if (answers.length !== asked.length)
      throw new Error("the signer has answered for other payments than it was asked for");
    return answers;
  };
  try {
    let next = ask(0);
    for (let start = 0; start < payments.length; start += askedMax) {
      const answers = await next;
      next = ask(start + askedMax);
      for (const [index, answer] of answers.entries()) {
        const payment = payments[start + index] as UnsignedPayment;
        const attempt = readAnswer(context, payment, intents[start + index] as SigningIntent, answer);
        if ("refused" in attempt) answered.refused.push([payment, attempt]);
        else answered.signed.push(attempt);
      }
    }
  } catch (error) {
    answered.failure = error;
  }
  return answered;
}

export function intentOf(
  { network }: Pick<DriverContext, "network">,
  payment: PaymentFacts & Omit<AttemptTerms, "dataFee"> & { nonce: number },
): SigningIntent {
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
  if ("refused" in answer) return readRefusal(intent, answer);
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

/** What the signer has signed instead has either the nonce or the transaction of the intent. Anything else says nothing about it, and is ignored. */
function readRefusal({ nonce, transactionId }: SigningIntent, refusal: SignerRefusal): SignerRefusal {
  const { refused, reason, signed } = refusal;
  const isInstead = (signed?.nonce === nonce) !== (signed?.transactionId === transactionId);
  return isInstead ? refusal : { refused, reason };
}

/**
 * What cannot be written halts its wallet alone, and what was signed for others is stored before. Nodes are asked within, and no wallet is at
 * fault for their errors.
 */
async function handleRefusal(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  given: { refusal: SignerRefusal; reads: RefusedReads },
): Promise<void> {
  const answer = () => answerRefusal(context, chain, payment, given);
  await isolateWallets(context, chain, [payment], (one) => one, answer);
}

/**
 * A fee that is too high for the signer is lowered, or, of a replacement, dropped. One that is not higher than what the signer has signed, and
 * nobody has stored, is raised. Any other refusal means that the signer knows more than the database.
 */
async function answerRefusal(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  { refusal: { refused, reason, signed }, reads }: { refusal: SignerRefusal; reads: RefusedReads },
): Promise<void> {
  const { tenantId, id, walletId, nonce, number, purpose } = payment;
  if (refused === "FEES_NOT_HIGHER" && purpose === "cancellation")
    return await raiseCancellation(context, chain, payment, reads);
  if (refused === "FEES_NOT_HIGHER" && (await raisePayment(context, chain, payment, reads))) return;
  if (refused === "FEE_ABOVE_LIMIT" && number === 1 && purpose === "cancellation")
    if (await waitForLimit(context, payment, reason)) return;
  // Of a payment that the signer has signed already, and refuses with fees that are not higher.
  const isForgotten = number === 1 && purpose === "replacement";
  if (refused === "FEE_ABOVE_LIMIT" && number === 1 && !isForgotten)
    return await lowerTerms(context, chain, payment, reads);
  if (refused === "FEE_ABOVE_LIMIT" && !isForgotten) {
    await inUnit(context, positionOf(chain), async (unit) =>
      unit.keepTerms([{ tenantId, id }], chain.headNumber),
    );
    return;
  }
  const advice =
    refused === "CANCELLED"
      ? ` Cancel ${shownPaymentId(id)}, which uses the nonce, and resume the wallet.`
      : "";
  const explanation = `The signer refuses to sign a payment with nonce ${nonce}: ${reason} (${refused}).${advice}`;
  const refusal = { reason: explanation, ...(signed === undefined ? {} : { signed }) };
  await haltRefused(context, chain, { tenantId, walletId }, refusal);
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
    const current = signed.filter(({ id, walletId, number, terms }) => {
      const state = states.get(id);
      if (state === undefined || state.stage === "over") return false;
      const isFrozen = state.isFrozen || frozen.has(walletId);
      // What nobody has stored is not sent.
      if (terms.purpose !== "cancellation" && !mayStore({ ...state, isFrozen })) return false;
      return state.wanted === number && state.attempt < number && state.purpose === terms.purpose;
    });
    // Only the first attempt changes the transaction: it is sent from then on, by any of its attempts. An empty transaction does not pay it.
    const events = current.flatMap(({ tenantId, id, hash, number, terms }): RailEvent[] =>
      number === 1 && terms.purpose !== "cancellation"
        ? [{ tenantId, id, event: { kind: "broadcast", hash } }]
        : [],
    );
    if (events.length > 0) await record({ events });
    unit.storeAttempts(current, chain.headNumber, new Date(context.recorder.now()));
  });
}

/** Whether an attempt that pays may still be stored. */
function mayStore(state: PaymentState): boolean {
  if (state.stage === "assigned") return stopUnsigned(state) === undefined;
  return maySend(state) && !state.cancelRequested;
}

function distinctSenders(signed: readonly WalletKey[]): WalletKey[] {
  return [...new Map(signed.map(({ tenantId, walletId }) => [walletId, { tenantId, walletId }])).values()];
}
