import type { FeeTerms } from "../../../app/chain/chain-node.js";
import type { AttemptTerms, PaymentFacts, ReadyPayment } from "../../../app/chain/chain-store.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import type { DriverContext } from "./driver-context.js";
import type { Estimated, Estimates } from "./estimate-groups.js";

/** What becomes of a payment that is ready, before it is written. */
export type Plan = AssignPlan | EndPlan;

export interface AssignPlan {
  kind: "assign";
  payment: ReadyPayment;
  terms: AttemptTerms;
}

interface EndPlan {
  kind: "end";
  payment: ReadyPayment;
  event: RailEvent["event"];
}

type EndingFailure = "EXPIRED" | "WALLET_FROZEN" | "ADDRESS_NOT_LISTED" | "WOULD_REVERT" | "FEE_TOO_HIGH";

/**
 * Decides about payments that have no nonce: those that must not be paid end, and the others get terms, for which a node is asked. What no
 * node could estimate is left out, and is listed again. In the order of wallets and payments, so that nonces have the order of requests.
 */
export async function planPayments(
  context: DriverContext,
  payments: readonly ReadyPayment[],
  estimates: Estimates,
): Promise<Plan[]> {
  const nowMs = context.recorder.now();
  const ended = new Map(payments.map((payment) => [payment.id, endBeforeNonce(payment, nowMs)]));
  const wanted = payments.filter(({ id }) => ended.get(id) === undefined);
  const estimated = wanted.length === 0 ? [] : await estimates.estimate(context, wanted);
  const market = estimated.length === 0 ? undefined : await context.node.market();
  const planned = new Map(
    market === undefined
      ? []
      : estimated.map((one) => [one.payment.id, planOne(one, market, context.network.feeMax)]),
  );
  return payments.flatMap(({ id }) => ended.get(id) ?? planned.get(id) ?? []);
}

/** Whether a payment ends before anything is signed for it; its nonce is then never given. */
function endBeforeNonce(payment: ReadyPayment, nowMs: number): EndPlan | undefined {
  const { cancelRequested, isFrozen, isDelisted, expiresAt } = payment;
  if (cancelRequested) return { kind: "end", payment, event: { kind: "cancel", fee: null } };
  if (isFrozen) return failPlan(payment, "WALLET_FROZEN");
  if (isDelisted) return failPlan(payment, "ADDRESS_NOT_LISTED");
  return expiresAt === null || expiresAt.getTime() > nowMs ? undefined : failPlan(payment, "EXPIRED");
}

/** As on the book: nothing was signed, so nothing leaves a wallet after the response to its freeze, or to a removed address. */
export function failPlan(payment: ReadyPayment, failure: EndingFailure): EndPlan {
  return { kind: "end", payment, event: { kind: "fail", failure, fee: null } };
}

function planOne({ payment, estimate }: Estimated, market: FeeTerms, feeMax: bigint): Plan {
  if ("refused" in estimate) return failPlan(payment, "WOULD_REVERT");
  const terms: AttemptTerms = { purpose: "payment", ...estimate, ...market };
  // A destination decides how much gas it uses, so without a bound it could spend the coins of the wallet.
  return feeBound(terms) > feeMax ? failPlan(payment, "FEE_TOO_HIGH") : { kind: "assign", payment, terms };
}

/** The most that an attempt can cost. */
export function feeBound({ gasLimit, maxFeePerGas, dataFee }: AttemptTerms): bigint {
  return gasLimit * maxFeePerGas + dataFee;
}

/**
 * What must be held for an attempt. An empty transaction leaves the amount in the wallet, and a payment in the coin holds it: a wallet that is paid
 * out as a whole can still be stopped.
 */
export function feeToHold(
  { asset, amount }: Pick<PaymentFacts, "asset" | "amount">,
  terms: AttemptTerms,
  coin: string,
): bigint {
  const bound = feeBound(terms);
  if (terms.purpose !== "cancellation" || asset !== coin) return bound;
  return bound > amount ? bound - amount : 0n;
}
