import type { AttemptTerms, UnsignedPayment } from "../../../app/chain/chain-store.js";
import { type StopReason, stopUnsigned } from "../../../app/chain/stop-payment.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "./driver-context.js";
import { isolateWallets } from "./isolate-wallets.js";

/**
 * Decides that an empty transaction uses the nonces of payments that are stopped before anything is signed for them. It is signed in the next
 * step, with the fees of the payment, which are held. Returns the payments that can be signed now.
 */
export async function stopUnsignedPayments(
  context: DriverContext,
  chain: FollowedChain,
  payments: readonly UnsignedPayment[],
): Promise<{ payments: readonly UnsignedPayment[]; isStopped: boolean }> {
  const stopped = new Map<UnsignedPayment, StopReason>();
  for (const payment of payments) {
    const reason = isFirst(payment) ? stopUnsigned(payment) : undefined;
    if (reason !== undefined) stopped.set(payment, reason);
  }
  if (stopped.size === 0) return { payments, isStopped: false };
  await isolateWallets(
    context,
    chain,
    [...stopped],
    ([payment]) => payment,
    (some) => writeStops(context, chain, some),
  );
  return { payments: payments.filter((payment) => !stopped.has(payment)), isStopped: true };
}

function isFirst({ number, purpose }: UnsignedPayment): boolean {
  return number === 1 && purpose !== "cancellation";
}

async function writeStops(
  context: DriverContext,
  chain: FollowedChain,
  stopped: readonly (readonly [UnsignedPayment, StopReason])[],
): Promise<void> {
  await inUnit(context, positionOf(chain), async (unit) => {
    const states = await unit.lockPayments(stopped.map(([payment]) => payment));
    const current = stopped.filter(([{ id }]) => {
      const state = states.get(id);
      return state?.stage === "assigned" && state.attempt === 0 && state.purpose !== "cancellation";
    });
    const stops = current.map(([{ tenantId, id }, reason]) => ({ tenantId, id, reason }));
    await unit.stopPayments(stops, new Date(context.recorder.now()));
    unit.setTerms(
      current.map(([payment]) => ({
        tenantId: payment.tenantId,
        id: payment.id,
        number: payment.number,
        terms: emptyTerms(payment),
      })),
      chain.headNumber,
    );
  });
}

/** Where data is paid in gas, an empty transaction needs more than the least; the payment's own limit covers it. */
function emptyTerms(payment: UnsignedPayment): AttemptTerms {
  const { gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas } = payment;
  return { purpose: "cancellation", gasLimit, dataFee, maxFeePerGas, maxPriorityFeePerGas };
}
