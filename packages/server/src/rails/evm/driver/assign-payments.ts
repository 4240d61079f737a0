import type { AssignedPayment, ReadyPayment, WalletKey } from "../../../app/chain/chain-store.js";
import type { HaltCode } from "../../../app/chain/halt.js";
import type { LockedSender } from "../../../app/chain/locked-sender.js";
import { endOfStop, type StoppedPayment } from "../../../app/chain/stop-payment.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import type { Confirmation } from "../confirm/confirmation.js";
import { aheadReason, readUsedNonces } from "../confirm/used-nonces.js";
import { chooseReady, type ReadyTurns, turnsOf } from "../ready-turns.js";
import { type DriverContext, type FollowedChain, haltRunning, inUnit, positionOf } from "./driver-context.js";
import type { Estimates } from "./estimate-groups.js";
import { haltTampered } from "./halt-tampered.js";
import { isolateWallets } from "./isolate-wallets.js";
import {
  type AssignPlan,
  endBeforeNonce,
  failPlan,
  feeToHold,
  type Plan,
  planPayments,
} from "./plan-payments.js";

/** How many wallets one step serves, and how many payments of them: the first are signed and sent while the next are estimated. */
const walletsMax = 64;
const paymentsMax = 256;

interface AssignDeps {
  turns: ReadyTurns;
  estimates: Estimates;
  confirmation: Omit<Confirmation, "confirm">;
}

/**
 * Gives nonces to payments: asks for fees and gas first, and then holds the fee and assigns the nonce in one SQL transaction. A payment that
 * would revert, or whose fee is too high or not in the wallet, fails without a nonce, so that no nonce is ever left out. Returns whether anything was
 * done, and whether there is certainly more. The next call serves the next page of wallets.
 */
export async function assignPayments(
  context: DriverContext,
  chain: FollowedChain,
  { turns, estimates, confirmation }: AssignDeps,
): Promise<{ isBusy: boolean; hasMore: boolean }> {
  const { network, store, recorder } = context;
  const { inFlightMax } = network;
  const page = { walletsMax, inFlightMax, bound: confirmation.listBound(inFlightMax) };
  const { afterWalletId } = turns;
  const ready = await store.listReady(network.network, {
    ...{ ...page, afterWalletId, turns: turnsOf(turns, estimates.countPaused()) },
  });
  const isPassedOver = (payment: ReadyPayment) =>
    estimates.isPaused(payment) && endBeforeNonce(payment, recorder.now()) === undefined;
  const { isBound } = confirmation;
  const all = chooseReady(turns, ready, { isPassedOver, isBound, inFlightMax });
  const listed = all.slice(0, paymentsMax);
  const isCut = listed.length < all.length;
  turns.afterWalletId = isCut ? listed.at(-1)?.walletId : ready.lastWalletId;
  const payments = await haltTampered(context, chain, listed);
  // With more wallets than a page has, the next step serves those behind it.
  if (payments.length === 0) return { isBusy: turns.afterWalletId !== undefined, hasMore: isCut };
  const { plans, unbegun } = await planPayments(context, payments, {
    estimates,
    usesNonce: (some) => plansThatUseNonces(some, confirmation),
  });
  const beforeUnbegun = walletBefore(listed, unbegun);
  turns.afterWalletId = beforeUnbegun ?? turns.afterWalletId;
  const lastWalletId = turns.afterWalletId;
  const hasMore = isCut || beforeUnbegun !== undefined;
  if (plans.length === 0) return { isBusy: lastWalletId !== undefined, hasMore };
  const used = await readUsedNonces(
    context,
    chain,
    plans.map(({ payment }) => payment),
  );
  const walletOf = ({ payment }: Plan) => payment;
  const write = (some: readonly Plan[]) => writePlans(context, chain, some, { used, confirmation });
  // What is stopped locks the audit log, and what ends the event log, which comes after it: not in one SQL transaction.
  const isStopped = (plan: Plan) => plan.kind === "assign" && plan.stop !== null;
  const written: WrittenPlans[] = [];
  for (const some of [plans.filter((plan) => !isStopped(plan)), plans.filter(isStopped)])
    if (some.length > 0) written.push(...(await isolateWallets(context, chain, some, walletOf, write)));
  for (const { wallet, code, reason } of written.flatMap(({ halts }) => halts))
    await haltRunning(context, chain, wallet, code, reason);
  for (const plan of written.flatMap(({ short }) => short)) reportShort(context, plan, confirmation);
  for (const { payment } of written.flatMap(({ unpayable }) => unpayable)) reportUnpayable(context, payment);
  // What waits for the operator is listed in each step, and must not be the reason for the next one.
  confirmation.lookSoon(written.flatMap(({ bound }) => bound));
  const isBusy = lastWalletId !== undefined || written.some(({ count }) => count > 0);
  return { isBusy, hasMore };
}

/** Where the next step goes on if a tenant found no time in this one; undefined if all of them did. The first one always does. */
function walletBefore(listed: readonly ReadyPayment[], unbegun: ReadonlySet<string>): string | undefined {
  const first = listed.findIndex(({ tenantId }) => unbegun.has(tenantId));
  return first > 0 ? listed[first - 1]?.walletId : undefined;
}

interface WrittenPlans {
  /** How many payments have ended or were given a nonce. */
  count: number;
  halts: { wallet: WalletKey; code: HaltCode; reason: string }[];
  /** Wallets whose bound payments were given nonces. */
  bound: string[];
  /** Those that must use the nonces, and whose fees the books cannot hold. Nothing of them has changed. */
  short: AssignPlan[];
  /** Those that the signer has bound to nonces which were used without them. */
  unpayable: Plan[];
}

async function writePlans(
  context: DriverContext,
  chain: FollowedChain,
  planned: readonly Plan[],
  { used, confirmation }: { used: ReadonlyMap<string, number>; confirmation: AssignDeps["confirmation"] },
): Promise<WrittenPlans> {
  const { network, recorder } = context;
  return await inUnit(context, positionOf(chain), async (unit, record) => {
    const wallets = new Map(planned.map(({ payment }) => [payment.walletId, payment]));
    const senders = await unit.lockSenders([...wallets.values()]);
    const states = await unit.lockPayments(planned.map(({ payment }) => payment));
    const frozen = new Set(senders.filter(({ isFrozen }) => isFrozen).map(({ walletId }) => walletId));
    const ahead = senders.filter(({ walletId, nextNonce }) => (used.get(walletId) ?? 0) > nextNonce);
    // The signer has signed another payment with the nonce, which may be one of these, and is pending or not final yet.
    const refused = senders.filter(({ haltedCode }) => haltedCode === "SIGNER_REFUSED");
    // The wallet agrees with the signer, which has forgotten what it has bound a payment to.
    const unlisted = senders.filter(({ isConfirmed, boundNonce }) => isConfirmed && boundNonce !== null);
    const mayBePaid = new Set([...ahead, ...refused, ...unlisted].map(({ walletId }) => walletId));
    const unconfirmed = senders.filter(({ isConfirmed }) => !isConfirmed);
    const bound = boundPlans(planned, unconfirmed, confirmation);
    const isUnconfirmed = new Set(unconfirmed.map(({ walletId }) => walletId));
    const unpayable: Plan[] = [];
    const ready = planned.flatMap((plan): Plan[] => {
      const state = states.get(plan.payment.id);
      if (state?.stage !== "ready") return [];
      if (mayBePaid.has(plan.payment.walletId)) return [];
      const isHeld = state.isSuspended || state.isDisabled;
      if (isUnconfirmed.has(plan.payment.walletId)) {
        const waits = isHeld && plan.kind === "assign" && plan.stop === null;
        return bound.has(plan) && (!waits || confirmation.isBound(plan.payment)) ? [plan] : [];
      }
      if (confirmation.isBound(plan.payment)) return [];
      if (plan.kind === "end") return [plan];
      // It was to fill a gap that is no more, and ends without a nonce.
      if (plan.stop !== null) return [];
      if (frozen.has(plan.payment.walletId)) return [failPlan(plan.payment, "WALLET_FROZEN")];
      if (state.isDelisted) return [failPlan(plan.payment, "ADDRESS_NOT_LISTED")];
      if (isHeld) return [];
      // The nonce that this payment was signed with is final.
      if (plan.payment.boundNonce === null) return [plan];
      unpayable.push(plan);
      return [];
    });
    const halts = [...ahead, ...unlisted]
      .filter(({ isHalted }) => !isHalted)
      .map((wallet) => ({
        wallet,
        ...(ahead.includes(wallet) ? aheadHalt(wallet, used) : unlistedHalt(wallet)),
      }));
    const plans = withRoom(ready, senders, network.inFlightMax);
    if (plans.length === 0) return { count: 0, halts, short: [], unpayable, bound: [] };
    const events = plans.map((plan) => eventOf(plan, network.coin, bound.has(plan)));
    const { outcomes } = await record({ events });
    const isPaid = (index: number) => outcomes[index] === "recorded";
    const nextNonce = new Map(senders.map((sender) => [sender.walletId, sender.nextNonce]));
    const assigned: AssignedPayment[] = [];
    const stops: StoppedPayment[] = [];
    const ended: ReadyPayment[] = [];
    const short: AssignPlan[] = [];
    for (const [index, plan] of plans.entries()) {
      if (plan.kind === "assign" && bound.has(plan) && !isPaid(index)) {
        short.push(plan);
        continue;
      }
      if (plan.kind === "end" || !isPaid(index)) {
        ended.push(plan.payment);
        continue;
      }
      const { tenantId, id, walletId } = plan.payment;
      const nonce = nextNonce.get(walletId) as number;
      nextNonce.set(walletId, nonce + 1);
      assigned.push({ tenantId, id, walletId, nonce, terms: plan.terms });
      if (plan.stop !== null) stops.push({ tenantId, id, reason: plan.stop });
    }
    const now = new Date(recorder.now());
    unit.assign(assigned, chain.headNumber, now);
    await unit.stopPayments(stops, now);
    const emptied = assigned.filter(({ terms }) => terms.purpose === "cancellation");
    unit.setTerms(
      emptied.map(({ tenantId, id, terms }) => ({ tenantId, id, number: 1, terms })),
      chain.headNumber,
    );
    unit.endPayments(ended.map(({ tenantId, id, walletId }) => ({ tenantId, id, walletId, nonce: null })));
    const given = assigned.filter(({ walletId }) => isUnconfirmed.has(walletId));
    return {
      ...{ count: plans.length - short.length, halts, short, unpayable },
      bound: given.map(({ walletId }) => walletId),
    };
  });
}

function aheadHalt(wallet: LockedSender, used: ReadonlyMap<string, number>) {
  return { code: "NONCE_USED_ELSEWHERE", reason: aheadReason(wallet, used) } as const;
}

/** It is compared with the signer when it is resumed, and the payment gets its nonce before others. */
function unlistedHalt({ boundNonce }: LockedSender) {
  const reason = `The signer had signed a payment with nonce ${boundNonce}, which has no nonce in the database, and does not list it any more: its journal was restored from a backup, or is that of another signer. Restore the newest journal, and resume the wallet.`;
  return { code: "SIGNER_REFUSED", reason } as const;
}

function reportShort(
  { network: { coin }, onShort }: DriverContext,
  { payment, terms }: AssignPlan,
  { isBound }: AssignDeps["confirmation"],
): void {
  const { id, walletId, address } = payment;
  const needed = `${address} does not have the coins: ${feeToHold(payment, terms, coin)} base units of ${coin} must be held for its fee. Send some to the wallet. Its payments wait until then.`;
  const gap = `The signer has signed later nonces than the next one of the wallet. ${shownPaymentId(id)} must use that one before, and ${needed}`;
  onShort({
    // Each id is reported once, and that of the payment was when it had not begun yet.
    ...{ walletId, id: walletId },
    reason: isBound(payment)
      ? `The signer has signed ${shownPaymentId(id)}, and the database, which was restored from a backup, has given it no nonce. It must get its nonce again, and ${needed}`
      : gap,
  });
}

function reportUnpayable({ onShort }: DriverContext, { id, walletId, boundNonce }: ReadyPayment): void {
  const reason = `The signer has signed ${shownPaymentId(id)} with nonce ${boundNonce}, signs it with no other, and that one is used. It can never be paid. Look on the chain for the transaction with nonce ${boundNonce}, and cancel the payment.`;
  onShort({ walletId, id, reason });
}

/**
 * The one payment of each wallet that the signer has bound to the next nonce. Any other would be refused with it. If the nonce is a gap, the first
 * that is bound to none: the signer has signed nothing for it. The next one follows in the next step, whatever the order of their ids.
 */
function boundPlans(
  plans: readonly Plan[],
  senders: readonly LockedSender[],
  { boundTo, isBound, hasGap }: AssignDeps["confirmation"],
): ReadonlySet<Plan> {
  return new Set(
    senders.flatMap((sender) => {
      const { walletId, nextNonce } = sender;
      const id = boundTo(walletId, nextNonce);
      const isGap = hasGap(sender);
      const mayUse = ({ payment }: Plan) =>
        payment.id === id || (isGap && payment.walletId === walletId && mayFill(payment, isBound));
      return plans.find((plan) => plan.kind === "assign" && mayUse(plan)) ?? [];
    }),
  );
}

/** It has no nonce of its own, as far as the signer has said: neither in the list, nor when it has refused the payment another one. */
function mayFill(payment: ReadyPayment, isBound: Confirmation["isBound"]): boolean {
  return payment.boundNonce === null && !isBound(payment);
}

/** What ends only by an empty transaction: it is bound to a nonce, or it fills a gap that no other payment of the wallet can. */
function plansThatUseNonces(
  plans: readonly Plan[],
  { isBound, hadGap }: AssignDeps["confirmation"],
): ReadonlySet<Plan> {
  const using = new Set(plans.filter(({ payment }) => isBound(payment)));
  const others = plans.filter(({ payment }) => mayFill(payment, isBound) && hadGap(payment.walletId));
  for (const walletId of new Set(others.map(({ payment }) => payment.walletId))) {
    const [first, ...rest] = others.filter(({ payment }) => payment.walletId === walletId);
    if (first !== undefined && [first, ...rest].every(({ kind }) => kind === "end")) using.add(first);
  }
  return using;
}

/** What is left out is listed again. */
function withRoom(
  plans: readonly Plan[],
  senders: readonly LockedSender[],
  inFlightMax: number,
): readonly Plan[] {
  const room = new Map(
    senders.map(({ walletId, isHalted, inFlight }) => [walletId, isHalted ? 0 : inFlightMax - inFlight]),
  );
  return plans.filter(({ kind, payment: { walletId } }) => {
    if (kind === "end") return true;
    const left = room.get(walletId) ?? 0;
    room.set(walletId, left - 1);
    return left > 0;
  });
}

/** What the signer has bound to a nonce may be pending on the chain: it never fails for want of coins, but waits for them. */
function eventOf(plan: Plan, coin: string, isBound: boolean): RailEvent {
  const { tenantId, id } = plan.payment;
  if (plan.kind === "end") return { tenantId, id, event: { ...endOfStop(plan.reason), fee: null } };
  const amount = feeToHold(plan.payment, plan.terms, coin);
  const event: RailEvent = { tenantId, id, event: { kind: "reserve_fee", fee: { asset: coin, amount } } };
  if (isBound) return event;
  return { ...event, otherwise: { kind: "fail", failure: "INSUFFICIENT_FEE_FUNDS", fee: null } };
}
