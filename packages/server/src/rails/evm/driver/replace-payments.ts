import type { ChainNetwork } from "../../../app/chain/chain-network.js";
import type { FeeTerms } from "../../../app/chain/chain-node.js";
import type { AttemptTerms, SentPayment } from "../../../app/chain/chain-store.js";
import { maySend, type StopReason, stopSigned } from "../../../app/chain/stop-payment.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import { raiseFees } from "../fees/raise-fees.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "./driver-context.js";
import { isolateWallets } from "./isolate-wallets.js";
import { feeToHold } from "./plan-payments.js";

/** After how many blocks without inclusion a payment is stuck. */
const stuckAfterBlocks = 6;

/** How far a client can raise fees, in those of the market. What is stuck is raised further, up to the bounds of the network. */
const requestedTimesMarket = 2n;

type Wish = { kind: "speed_up"; isRequested: boolean } | { kind: "cancel"; reason: StopReason };

/** The attempts of which a cancellation was decided or refused at a head, by chain: in memory, as one try more does no harm. */
const triedStops = new WeakMap<FollowedChain, { headNumber: number; attempts: Set<string> }>();

interface Wished {
  payment: SentPayment;
  wish: Wish;
}

/**
 * Decides which payments get another attempt for the same nonce: with higher fees if they are stuck or somebody asked for it, or an empty
 * transaction instead if they are stopped. Payments come in the order of wallets and nonces, after the one `before` them. A payment that seems
 * stuck can be in a block that was not read yet, so while the chain is behind no fees are raised; a stop does not wait. Returns whether anything
 * was decided, and the ids of those that an empty transaction replaces.
 */
export async function replacePayments(
  context: DriverContext,
  chain: FollowedChain,
  payments: readonly SentPayment[],
  { before, isBehind }: { before: { walletId: string } | undefined; isBehind: boolean },
): Promise<{ isBusy: boolean; stopped: ReadonlySet<string> }> {
  const wishes = payments.flatMap((payment, index) => {
    const isLowest = payment.walletId !== (payments[index - 1] ?? before)?.walletId;
    const wish = wishOf(payment, isLowest, chain);
    const waits = isBehind && wish?.kind === "speed_up";
    return wish === undefined || waits ? [] : [{ payment, wish }];
  });
  if (wishes.length === 0) return { isBusy: false, stopped: new Set() };
  const market = await context.node.market();
  const stopped = await isolateWallets(
    context,
    chain,
    wishes,
    ({ payment }) => payment,
    (some) => writeTerms(context, chain, some, market),
  );
  return { isBusy: true, stopped: new Set(stopped.flat()) };
}

/** Returns the ids of those that are stopped. */
async function writeTerms(
  context: DriverContext,
  chain: FollowedChain,
  wishes: readonly Wished[],
  market: FeeTerms,
): Promise<string[]> {
  const stopped = await inUnit(context, positionOf(chain), async (unit, record) => {
    const states = await unit.lockPayments(wishes.map(({ payment }) => payment));
    const current = wishes.filter(({ payment: { id, number, unsigned } }) => {
      const state = states.get(id);
      const wanted = unsigned === null ? number : number + 1;
      return state?.stage === "signed" && state.attempt === number && state.wanted === wanted;
    });
    const planned = current.map((wished) => ({ ...wished, ...planOf(wished, market, context.network) }));
    const events = planned.flatMap(({ event }) => event ?? []);
    const { outcomes } = events.length === 0 ? { outcomes: [] } : await record({ events });
    // At the cap, or without coins for more: the last attempt stays, and it is looked at again some blocks later.
    const isRaised = (event: RailEvent | undefined) =>
      event !== undefined && outcomes[events.indexOf(event)] === "recorded";
    const raised = planned.filter(({ event }) => isRaised(event));
    const stops = raised.flatMap(({ payment: { tenantId, id }, wish }) =>
      wish.kind === "cancel" ? [{ tenantId, id, reason: wish.reason }] : [],
    );
    await unit.stopPayments(stops, new Date(context.recorder.now()));
    unit.setTerms(
      raised.flatMap(({ payment: { tenantId, id, number }, terms }) =>
        terms ? [{ tenantId, id, number: number + 1, terms }] : [],
      ),
      chain.headNumber,
    );
    unit.keepTerms(
      planned.filter(({ event }) => !isRaised(event)).map(({ payment }) => payment),
      chain.headNumber,
    );
    return stops.map(({ id }) => id);
  });
  for (const { payment, wish } of wishes)
    if (wish.kind === "cancel") stopsTriedOf(chain).add(attemptOf(payment));
  return stopped;
}

function stopsTriedOf(chain: FollowedChain): Set<string> {
  const { headNumber } = chain;
  const known = triedStops.get(chain);
  if (known?.headNumber === headNumber) return known.attempts;
  const attempts = new Set<string>();
  triedStops.set(chain, { headNumber, attempts });
  return attempts;
}

function attemptOf({ id, number }: SentPayment): string {
  return `${id} ${number}`;
}

/** The terms of the next attempt, and what must be held for them; neither if the cap is reached. */
function planOf(
  { payment, wish }: Wished,
  market: FeeTerms,
  network: ChainNetwork,
): { terms: AttemptTerms | undefined; event: RailEvent | undefined } {
  const terms = nextTerms(payment.terms, wish, market, network);
  if (terms === undefined) return { terms, event: undefined };
  const { tenantId, id } = payment;
  const fee = { asset: network.coin, amount: feeToHold(payment, terms, network.coin) };
  return { terms, event: { tenantId, id, event: { kind: "reserve_fee", fee } } };
}

/** Only the lowest nonce of a wallet can be stuck by its fee: those behind it, or behind one that is free or not signed, wait for it, and gain nothing by higher fees. */
function wishOf(payment: SentPayment, isLowest: boolean, chain: FollowedChain): Wish | undefined {
  const isCancellation = payment.terms.purpose === "cancellation";
  // What waits for its signature, unless it would pay what has been stopped since.
  if (payment.unsigned === "cancellation" || (payment.unsigned !== null && isCancellation)) return undefined;
  const waited = chain.headNumber - payment.termsNumber;
  // What was at the cap a moment ago is not tried at every look.
  const mayTry = payment.number === 1 || waited > 0;
  const reason = isCancellation ? undefined : stopSigned(payment);
  // An attempt that was just made, such as one with higher fees on request, does not delay a stop.
  const mayStop = mayTry || !stopsTriedOf(chain).has(attemptOf(payment));
  if (reason !== undefined) return mayStop ? { kind: "cancel", reason } : undefined;
  if (payment.unsigned !== null || !(isCancellation || (maySend(payment) && !payment.isFreezing)))
    return undefined;
  if (!isLowest || payment.waitsForLower) return undefined;
  if (waited >= stuckAfterBlocks) return { kind: "speed_up", isRequested: false };
  return payment.speedUpRequested && mayTry ? { kind: "speed_up", isRequested: true } : undefined;
}

/** Undefined if the cap is reached. A cancellation that is stuck stays one. */
function nextTerms(
  terms: AttemptTerms,
  wish: Wish,
  market: FeeTerms,
  { feeCap, feeMax }: Pick<ChainNetwork, "feeCap" | "feeMax">,
): AttemptTerms | undefined {
  const isCancelled = wish.kind === "cancel" || terms.purpose === "cancellation";
  // An empty transaction uses little of its gas limit, and the nonce must be used.
  const highest = isCancelled ? feeCap : (feeMax - terms.dataFee) / terms.gasLimit;
  const fees = raiseFees(terms, market, highest < feeCap ? highest : feeCap);
  if (fees === "cap_reached") return undefined;
  if (wish.kind === "speed_up" && wish.isRequested && isAboveMarket(fees, market)) return undefined;
  return {
    ...fees,
    purpose: isCancelled ? "cancellation" : "replacement",
    // Where data is paid in gas, an empty transaction needs more than the least; the payment's own limit covers it.
    gasLimit: terms.gasLimit,
    dataFee: terms.dataFee,
  };
}

function isAboveMarket(fees: FeeTerms, market: FeeTerms): boolean {
  return (
    fees.maxFeePerGas > requestedTimesMarket * market.maxFeePerGas ||
    fees.maxPriorityFeePerGas > requestedTimesMarket * market.maxPriorityFeePerGas
  );
}
