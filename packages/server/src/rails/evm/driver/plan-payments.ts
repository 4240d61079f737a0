import type { FeeTerms } from "../../../app/chain/chain-node.js";
import type { AttemptTerms, PaymentFacts, ReadyPayment } from "../../../app/chain/chain-store.js";
import type { StopFailure, StopReason } from "../../../app/chain/stop-payment.js";
import type { DriverContext } from "./driver-context.js";
import type { Estimated, Estimates } from "./estimate-groups.js";

/** What becomes of a payment that is ready, before it is written. */
export type Plan = AssignPlan | EndPlan;

export interface AssignPlan {
  kind: "assign";
  payment: ReadyPayment;
  terms: AttemptTerms;
  /** Why an empty transaction uses the nonce; null if the payment does. */
  stop: StopReason | null;
}

interface EndPlan {
  kind: "end";
  payment: ReadyPayment;
  reason: "CANCEL_REQUESTED" | StopFailure;
}

/**
 * Decides about payments that have no nonce: those that must not be paid end, and the others get terms, for which a node is asked. What no
 * node could estimate is left out, and is listed again. In the order of wallets and payments, so that nonces have the order of requests.
 *
 * What the signer has bound to a nonce, and must not or cannot be paid, does not end here: an empty transaction uses the nonce, because the bytes
 * that were signed may be pending on the chain, and the payments behind it would wait without end. `usesNonce` says which plans these are.
 * `unbegun` are tenants of which no payment found time to be estimated.
 */
export async function planPayments(
  context: DriverContext,
  payments: readonly ReadyPayment[],
  {
    estimates,
    usesNonce,
  }: { estimates: Estimates; usesNonce: (plans: readonly Plan[]) => ReadonlySet<Plan> },
): Promise<{ plans: Plan[]; unbegun: ReadonlySet<string> }> {
  const nowMs = context.recorder.now();
  const ended = new Map(payments.map((payment) => [payment.id, endBeforeNonce(payment, nowMs)]));
  const wanted = payments.filter(({ id }) => ended.get(id) === undefined);
  const { estimated, unbegun } = await estimates.estimate(context, wanted);
  const market = estimated.length === 0 ? undefined : await context.node.market();
  const planned = new Map(
    market === undefined
      ? []
      : estimated.map((one) => [one.payment.id, planOne(one, market, context.network.feeMax)]),
  );
  const plans = payments.flatMap(({ id }) => ended.get(id) ?? planned.get(id) ?? []);
  const using = usesNonce(plans);
  const emptied = await planEmpty(
    context,
    plans.flatMap((plan) => (plan.kind === "end" && using.has(plan) ? [plan] : [])),
  );
  return {
    plans: plans.flatMap((plan) => (emptied.has(plan) ? (emptied.get(plan) ?? []) : [plan])),
    unbegun,
  };
}

/** Instead of plans that would end, some that use the nonce; undefined if no node estimates them now. */
async function planEmpty(
  { node }: DriverContext,
  plans: readonly EndPlan[],
): Promise<ReadonlyMap<Plan, AssignPlan | undefined>> {
  if (plans.length === 0) return new Map();
  const estimates = await estimateEmpty(
    node,
    plans.map(({ payment }) => payment.address),
  );
  const market = await node.market();
  return new Map(
    plans.map((plan, index) => {
      const estimate = estimates[index];
      if (estimate === undefined) return [plan, undefined];
      const terms: AttemptTerms = { purpose: "cancellation", ...estimate, ...market };
      return [plan, { kind: "assign", payment: plan.payment, terms, stop: plan.reason }];
    }),
  );
}

/** The gas of empty transactions of these addresses; undefined if no node estimates it now. */
export async function estimateEmpty(
  node: DriverContext["node"],
  addresses: readonly string[],
): Promise<({ gasLimit: bigint; dataFee: bigint } | undefined)[]> {
  const drafts = addresses.map((address) => ({
    ...{ from: address, contract: null, destination: address, amount: 0n },
  }));
  const estimates = await node.estimate(drafts);
  return addresses.map((_, index) => {
    const estimate = estimates[index];
    return estimate !== undefined && "gasLimit" in estimate ? estimate : undefined;
  });
}

/** Whether a payment ends before anything is signed for it; its nonce is then never given. */
export function endBeforeNonce(payment: ReadyPayment, nowMs: number): EndPlan | undefined {
  const { cancelRequested, isFrozen, isDelisted, expiresAt } = payment;
  if (cancelRequested) return { kind: "end", payment, reason: "CANCEL_REQUESTED" };
  if (isFrozen) return failPlan(payment, "WALLET_FROZEN");
  if (isDelisted) return failPlan(payment, "ADDRESS_NOT_LISTED");
  return expiresAt === null || expiresAt.getTime() > nowMs ? undefined : failPlan(payment, "EXPIRED");
}

/** As on the book: nothing was signed, so nothing leaves a wallet after the response to its freeze, or to a removed address. */
export function failPlan(payment: ReadyPayment, reason: StopFailure): EndPlan {
  return { kind: "end", payment, reason };
}

function planOne({ payment, estimate }: Estimated, market: FeeTerms, feeMax: bigint): Plan {
  if ("refused" in estimate) return failPlan(payment, "WOULD_REVERT");
  const terms: AttemptTerms = { purpose: "payment", ...estimate, ...market };
  // A destination decides how much gas it uses, so without a bound it could spend the coins of the wallet.
  if (feeBound(terms) > feeMax) return failPlan(payment, "FEE_TOO_HIGH");
  return { kind: "assign", payment, terms, stop: null };
}

/** The most that an attempt can cost. */
function feeBound({ gasLimit, maxFeePerGas, dataFee }: AttemptTerms): bigint {
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
