import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { FeeTerms } from "../../../app/chain/chain-node.js";
import type { AttemptTerms, SentPayment } from "../../../app/chain/chain-store.js";
import { raiseFees } from "../fees/raise-fees.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "./driver-context.js";
import { isolateWallets } from "./isolate-wallets.js";
import { feeBound } from "./plan-payments.js";

/** After how many blocks without inclusion a payment is stuck. */
const stuckAfterBlocks = 6;

type Wish = "speed_up" | "cancel";

interface Wished {
  payment: SentPayment;
  wish: Wish;
}

/**
 * Decides which payments get another attempt for the same nonce: with higher fees if they are stuck or somebody asked for it, or an empty
 * transaction instead if they are to be cancelled. Payments come in the order of wallets and nonces, after the one `before` them. Returns
 * whether anything was decided.
 */
export async function replacePayments(
  context: DriverContext,
  chain: FollowedChain,
  payments: readonly SentPayment[],
  before: { walletId: string } | undefined,
): Promise<boolean> {
  const wishes = payments.flatMap((payment, index) => {
    const isLowest = payment.walletId !== (payments[index - 1] ?? before)?.walletId;
    const wish = wishOf(payment, isLowest, chain.headNumber);
    return wish === undefined ? [] : [{ payment, wish }];
  });
  if (wishes.length === 0) return false;
  const market = await context.node.market();
  await isolateWallets(
    context,
    chain,
    wishes,
    ({ payment }) => payment,
    (some) => writeTerms(context, chain, some, market),
  );
  return true;
}

async function writeTerms(
  context: DriverContext,
  chain: FollowedChain,
  wishes: readonly Wished[],
  market: FeeTerms,
): Promise<void> {
  await inUnit(context, positionOf(chain), async (unit, record) => {
    const states = await unit.lockPayments(wishes.map(({ payment }) => payment));
    const current = wishes.filter(({ payment: { id, number } }) => {
      const state = states.get(id);
      return state?.stage === "signed" && state.attempt === number && state.wanted === number;
    });
    const planned = current.map(({ payment, wish }) => ({
      payment,
      terms: nextTerms(payment.terms, wish, market, context.network),
    }));
    const raised = planned.flatMap(({ payment, terms }) =>
      terms === undefined ? [] : [{ tenantId: payment.tenantId, id: payment.id, terms }],
    );
    const { coin } = context.network;
    const { outcomes } =
      raised.length === 0
        ? { outcomes: [] }
        : await record({
            events: raised.map(({ tenantId, id, terms }) => ({
              ...{ tenantId, id },
              event: { kind: "reserve_fee", fee: { asset: coin, amount: feeBound(terms) } } as const,
            })),
          });
    const kept = planned.filter(({ terms }) => terms === undefined).map(({ payment }) => payment);
    unit.setTerms(
      raised.filter((_, index) => outcomes[index] === "recorded"),
      chain.headNumber,
    );
    // At the cap, or without coins for more: the last attempt stays, and it is looked at again some blocks later.
    unit.keepTerms(
      [...kept, ...raised.filter((_, index) => outcomes[index] !== "recorded")],
      chain.headNumber,
    );
  });
}

/** Only the lowest nonce of a wallet can be stuck by its fee: those behind it wait for it. */
function wishOf(payment: SentPayment, isLowest: boolean, headNumber: number): Wish | undefined {
  if (payment.isUnsigned) return undefined;
  const waited = headNumber - payment.termsNumber;
  // What was at the cap a moment ago is not tried at every look.
  const mayTry = payment.number === 1 || waited > 0;
  if (payment.cancelRequested && payment.terms.purpose !== "cancellation" && mayTry) return "cancel";
  if (payment.speedUpRequested && mayTry) return "speed_up";
  return isLowest && waited >= stuckAfterBlocks ? "speed_up" : undefined;
}

/** Undefined if the cap is reached. A cancellation that is stuck stays one. */
function nextTerms(
  terms: AttemptTerms,
  wish: Wish,
  market: FeeTerms,
  { feeCap, feeMax }: Pick<ChainNetwork, "feeCap" | "feeMax">,
): AttemptTerms | undefined {
  const isCancelled = wish === "cancel" || terms.purpose === "cancellation";
  // An empty transaction uses little of its gas limit, and the nonce must be used.
  const highest = isCancelled ? feeCap : (feeMax - terms.dataFee) / terms.gasLimit;
  const fees = raiseFees(terms, market, highest < feeCap ? highest : feeCap);
  if (fees === "cap_reached") return undefined;
  return {
    ...fees,
    purpose: isCancelled ? "cancellation" : "replacement",
    // Where data is paid in gas, an empty transaction needs more than the least; the payment's own limit covers it.
    gasLimit: terms.gasLimit,
    dataFee: terms.dataFee,
  };
}
