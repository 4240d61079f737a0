import type { ChainNode, FeeTerms } from "../../../app/chain/chain-node.js";
import type { AttemptTerms, UnsignedPayment } from "../../../app/chain/chain-store.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import { raiseFees, raiseLeast } from "../fees/raise-fees.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "./driver-context.js";
import { estimateEmpty, feeToHold } from "./plan-payments.js";

/** What nodes say about the payments that the signer has refused in one step. */
export interface RefusedReads {
  readonly market: () => Promise<FeeTerms>;
  /** The gas of an empty transaction of this address; undefined if no node estimates it now. */
  readonly emptyGas: (address: string) => Promise<bigint | undefined>;
}

/** Nodes are asked once for all of them, and only if one needs it: hundreds can be refused, as when fees rise above the limit of the signer. */
export function createRefusedReads(node: ChainNode, payments: readonly UnsignedPayment[]): RefusedReads {
  const addresses = [...new Set(payments.map(({ address }) => address))];
  let market: Promise<FeeTerms> | undefined;
  let empty: ReturnType<typeof estimateEmpty> | undefined;
  return {
    market: async () => {
      market ??= node.market();
      return await market;
    },
    emptyGas: async (address) => {
      empty ??= estimateEmpty(node, addresses);
      return (await empty)[addresses.indexOf(address)]?.gasLimit;
    },
  };
}

/**
 * Nothing is signed for this nonce, so its terms can change: to the fees of now if they are lower, and otherwise to an empty transaction if
 * that needs less gas than the payment. If neither helps, it is asked again until fees have fallen. The nonce must be used in any case, or
 * all payments behind it would wait without end. The bound is never above the fee that is held.
 */
export async function lowerTerms(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  reads: RefusedReads,
): Promise<void> {
  const { tenantId, id, number, address, purpose, gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas } =
    payment;
  const market = await reads.market();
  const isLower = market.maxFeePerGas < maxFeePerGas;
  const fees = isLower ? market : { maxFeePerGas, maxPriorityFeePerGas };
  const emptyGas = isLower ? undefined : await reads.emptyGas(address);
  const isSmaller = emptyGas !== undefined && emptyGas < gasLimit;
  if (!isLower && !isSmaller) return;
  const terms: AttemptTerms = isSmaller
    ? { ...fees, purpose: "cancellation", gasLimit: emptyGas, dataFee }
    : { ...fees, purpose, gasLimit, dataFee };
  await inUnit(context, positionOf(chain), async (unit) => {
    const state = (await unit.lockPayments([payment])).get(id);
    if (state?.stage === "assigned" && state.attempt === 0)
      unit.setTerms([{ tenantId, id, number, terms }], chain.headNumber);
  });
}

/**
 * The signer has signed the payment, and its answer was lost or came after the stop. A cancellation replaces only what offers less, so its fees
 * are raised, up to the cap. It needs the gas of an empty transaction only, so the fee that is held for the payment of a token suffices, also
 * if the wallet has no more coins. If it does not have the coins for the usual raise, the fees are raised by the least that replaces anything. If
 * it does not have those either, or the cap is below them, the reason is reported, and it is asked for again as it is.
 */
export async function raiseCancellation(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  reads: RefusedReads,
): Promise<void> {
  const { walletId, address, dataFee } = payment;
  const { coin, feeCap } = context.network;
  const usual = raiseFees(payment, await reads.market(), feeCap);
  const least = raiseLeast(payment, feeCap);
  if (least === "cap_reached") {
    context.onShort({
      ...{ walletId, id: payment.id },
      reason: `${shownPaymentId(payment.id)} is to be cancelled with nonce ${payment.nonce} and more than ${payment.maxFeePerGas} per gas, and the cap of the network is ${feeCap}. Raise \`fee_cap_gwei\`. Payments of ${address} wait until then, or until its transaction is in a block.`,
    });
    return;
  }
  const emptyGas = (await reads.emptyGas(address)) ?? payment.gasLimit;
  const gasLimit = emptyGas < payment.gasLimit ? emptyGas : payment.gasLimit;
  for (const fees of usual === "cap_reached" ? [least] : [usual, least]) {
    const terms: AttemptTerms = { ...fees, purpose: "cancellation", gasLimit, dataFee };
    if (await reserveFor(context, chain, payment, terms)) return;
  }
  const { maxFeePerGas } = least;
  const needed = feeToHold(payment, { ...least, purpose: "cancellation", gasLimit, dataFee }, coin);
  context.onShort({
    ...{ walletId, id: payment.id },
    reason: `${shownPaymentId(payment.id)} is to be cancelled with nonce ${payment.nonce}, and ${address} does not have the coins: ${needed} base units of ${coin} must be held for it, at ${maxFeePerGas} per gas. Send some to the wallet. Its payments wait until then.`,
  });
}

/**
 * A cancellation of what the signer has signed before cannot have lower fees: they would be refused for not being higher, raised, and refused for
 * the limit again. It is asked for as it is until the limit is raised or a block has what was signed. Returns false if nothing was signed.
 */
export async function waitForLimit(
  { network, signer, onShort }: DriverContext,
  { tenantId, id, walletId, nonce, address }: UnsignedPayment,
  limit: string,
): Promise<boolean> {
  const [signed] = await signer.signedFrom([{ tenantId, walletId, network: network.network, nonce }]);
  const isSigned = Array.isArray(signed) && signed.some((one) => one.nonce === nonce);
  if (isSigned)
    onShort({
      ...{ walletId, id },
      reason: `${shownPaymentId(id)} is to be cancelled with nonce ${nonce}, and the signer refuses the fee: ${limit} Raise its limit. Payments of ${address} wait until then, or until its transaction is in a block.`,
    });
  return isSigned;
}

/**
 * The signer has signed the payment with the same nonce and fees that are not lower: the database was restored from a backup, and has forgotten
 * it. Only one transaction with a nonce can be executed, so the same payment is signed once more, with higher fees, until the signer accepts
 * them. At the bounds of the network, or without coins for more, a replacement is dropped. Returns false for a first attempt at the bounds.
 */
export async function raisePayment(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  reads: RefusedReads,
): Promise<boolean> {
  const { tenantId, id, walletId, number, address, gasLimit, dataFee } = payment;
  const { feeCap, feeMax } = context.network;
  const highest = (feeMax - dataFee) / gasLimit;
  const fees = raiseFees(payment, await reads.market(), highest < feeCap ? highest : feeCap);
  const isFirst = number === 1;
  if (fees === "cap_reached" && isFirst) return false;
  if (fees !== "cap_reached") {
    const terms: AttemptTerms = { ...fees, purpose: "replacement", gasLimit, dataFee };
    if (await reserveFor(context, chain, payment, terms)) return true;
  }
  if (isFirst)
    context.onShort({
      ...{ walletId, id },
      reason: `${shownPaymentId(id)} must be signed with nonce ${payment.nonce} and higher fees than before, and ${address} does not have the coins. Send some to the wallet. Its payments wait until then.`,
    });
  else
    await inUnit(context, positionOf(chain), async (unit) =>
      unit.keepTerms([{ tenantId, id }], chain.headNumber),
    );
  return true;
}

/** Returns whether it is decided: false if the wallet does not have the coins. */
async function reserveFor(
  context: DriverContext,
  chain: FollowedChain,
  payment: UnsignedPayment,
  terms: AttemptTerms,
): Promise<boolean> {
  const { tenantId, id, number } = payment;
  const { coin } = context.network;
  return await inUnit(context, positionOf(chain), async (unit, record) => {
    const state = (await unit.lockPayments([payment])).get(id);
    const isCurrent = state?.purpose === payment.purpose && state.wanted === number && state.attempt < number;
    if (!isCurrent || state.stage === "over" || state.stage === "included") return true;
    const fee = { asset: coin, amount: feeToHold(payment, terms, coin) };
    const { outcomes } = await record({ events: [{ tenantId, id, event: { kind: "reserve_fee", fee } }] });
    if (outcomes[0] === "recorded") unit.setTerms([{ tenantId, id, number, terms }], chain.headNumber);
    return outcomes[0] === "recorded";
  });
}
