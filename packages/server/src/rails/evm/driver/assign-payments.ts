import type {
  AssignedPayment,
  LockedSender,
  ReadyPayment,
  WalletKey,
} from "../../../app/chain/chain-store.js";
import type { RailEvent } from "../../../app/rails/record-rail-events.js";
import {
  type DriverContext,
  type FollowedChain,
  haltNetwork,
  haltWallet,
  inUnit,
  positionOf,
} from "./driver-context.js";
import type { Estimates } from "./estimate-groups.js";
import { haltTampered } from "./halt-tampered.js";
import { isolateWallets } from "./isolate-wallets.js";
import { failPlan, feeBound, type Plan, planPayments } from "./plan-payments.js";

/** How many wallets one step serves, and how many payments of them: the first are signed and sent while the next are estimated. */
const walletsMax = 64;
const paymentsMax = 256;

/**
 * Gives nonces to payments: asks for fees and gas first, and then holds the fee and assigns the nonce in one SQL transaction. A payment that
 * would revert, or whose fee is too high or not in the wallet, fails without a nonce, so that no nonce is ever left out. Returns where the next page
 * of wallets begins, whether anything was done, and whether there is certainly more.
 */
export async function assignPayments(
  context: DriverContext,
  chain: FollowedChain,
  { afterWalletId, estimates }: { afterWalletId: string | undefined; estimates: Estimates },
): Promise<{ lastWalletId: string | undefined; isBusy: boolean; hasMore: boolean }> {
  const { network, store } = context;
  const page = { walletsMax, afterWalletId, inFlightMax: network.inFlightMax };
  const { payments: all, lastWalletId: lastOfPage } = await store.listReady(network.network, page);
  const listed = all.slice(0, paymentsMax);
  const hasMore = listed.length < all.length;
  const lastWalletId = hasMore ? listed.at(-1)?.walletId : lastOfPage;
  const payments = await haltTampered(context, chain, listed);
  // With more wallets than a page has, the next step serves those behind it.
  if (payments.length === 0) return { lastWalletId, isBusy: lastWalletId !== undefined, hasMore };
  const plans = await planPayments(context, payments, estimates);
  if (plans.length === 0) return { lastWalletId, isBusy: lastWalletId !== undefined, hasMore };
  const used = await readUsedNonces(context, chain, plans);
  const walletOf = ({ payment }: Plan) => payment;
  const write = (some: readonly Plan[]) => writePlans(context, chain, some, used);
  const written = await isolateWallets(context, chain, plans, walletOf, write);
  for (const { wallet, reason } of written.flatMap(({ halts }) => halts))
    await haltWallet(context, chain, wallet, "NONCE_USED_ELSEWHERE", reason);
  // What waits for the operator is listed in each step, and must not be the reason for the next one.
  const isBusy = lastWalletId !== undefined || written.some(({ count }) => count > 0);
  return { lastWalletId, isBusy, hasMore };
}

/**
 * How many transactions of the senders are final, by wallet. No nonce comes from it: it only shows whether the chain is ahead of the books. Then
 * payments may have been made that the books have forgotten, so none of them ends, not even if its cancellation was requested.
 */
async function readUsedNonces(
  context: DriverContext,
  chain: FollowedChain,
  plans: readonly Plan[],
): Promise<ReadonlyMap<string, number>> {
  const senders = [...new Map(plans.map(({ payment }) => [payment.walletId, payment.address]))];
  const heads = await context.node.heads();
  if ("halt" in heads) return await haltNetwork(context, positionOf(chain), "NETWORK_DISPUTED", heads.halt);
  const nonces = await context.node.noncesAt(
    senders.map(([, address]) => address),
    heads.final,
  );
  return new Map(senders.map(([walletId], index) => [walletId, nonces[index] as number]));
}

interface WrittenPlans {
  /** How many payments have ended or were given a nonce. */
  count: number;
  halts: { wallet: WalletKey; reason: string }[];
}

async function writePlans(
  context: DriverContext,
  chain: FollowedChain,
  planned: readonly Plan[],
  used: ReadonlyMap<string, number>,
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
    const mayBePaid = new Set([...ahead, ...refused].map(({ walletId }) => walletId));
    const ready = planned.flatMap((plan): Plan[] => {
      const state = states.get(plan.payment.id);
      if (state?.stage !== "ready") return [];
      if (mayBePaid.has(plan.payment.walletId)) return [];
      if (plan.kind === "end") return [plan];
      if (frozen.has(plan.payment.walletId)) return [failPlan(plan.payment, "WALLET_FROZEN")];
      if (state.isDelisted) return [failPlan(plan.payment, "ADDRESS_NOT_LISTED")];
      return state.isSuspended || state.isDisabled ? [] : [plan];
    });
    const halts = ahead
      .filter(({ isHalted }) => !isHalted)
      .map((wallet) => ({ wallet, reason: aheadReason(wallet, used) }));
    const plans = withRoom(ready, senders, network.inFlightMax);
    if (plans.length === 0) return { count: 0, halts };
    const { outcomes } = await record({ events: plans.map((plan) => eventOf(plan, network.coin)) });
    const isPaid = (index: number) => outcomes[index] === "recorded";
    const nextNonce = new Map(senders.map((sender) => [sender.walletId, sender.nextNonce]));
    const assigned: AssignedPayment[] = [];
    const ended: ReadyPayment[] = [];
    for (const [index, plan] of plans.entries()) {
      if (plan.kind === "end" || !isPaid(index)) {
        ended.push(plan.payment);
        continue;
      }
      const { tenantId, id, walletId } = plan.payment;
      const nonce = nextNonce.get(walletId) as number;
      nextNonce.set(walletId, nonce + 1);
      assigned.push({ tenantId, id, walletId, nonce, terms: plan.terms });
    }
    unit.assign(assigned, chain.headNumber, new Date(recorder.now()));
    unit.endPayments(ended.map(({ tenantId, id, walletId }) => ({ tenantId, id, walletId, nonce: null })));
    return { count: plans.length, halts };
  });
}

function aheadReason({ walletId, nextNonce }: LockedSender, used: ReadonlyMap<string, number>): string {
  return `${used.get(walletId)} of its transactions are final, and its next nonce would be ${nextNonce}. The key was used elsewhere, or the database was restored from a backup.`;
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

function eventOf(plan: Plan, coin: string): RailEvent {
  const { tenantId, id } = plan.payment;
  if (plan.kind === "end") return { tenantId, id, event: plan.event };
  return {
    tenantId,
    id,
    event: { kind: "reserve_fee", fee: { asset: coin, amount: feeBound(plan.terms) } },
    otherwise: { kind: "fail", failure: "INSUFFICIENT_FEE_FUNDS", fee: null },
  };
}
