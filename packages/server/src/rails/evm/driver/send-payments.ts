import type { SentPayment } from "../../../app/chain/chain-store.js";
import { maySend } from "../../../app/chain/stop-payment.js";
import type { DriverContext, FollowedChain } from "./driver-context.js";

/** After how many blocks the same bytes are sent again, or after how long if there are none: some chains have blocks only on demand. */
const resendAfterBlocks = 2;
export const resendAfterMs = 30_000;
/** After how many blocks it is forgotten when something was sent. */
const forgetAfterBlocks = 64;
/** How many are sent one after the other, each with the timeout of a request, before the lease is renewed. */
const inOrderMax = 8;
/** The same if they are sent together: a node that allows few calls a second needs long for more. */
const togetherMax = 100;

/** A moment on the chain and on the clock of the process. */
interface Moment {
  headNumber: number;
  monotonicMs: number;
}

/** When each hash was last sent. It only paces: a process that has forgotten it sends once more. */
export type SentAt = Map<string, Moment>;

/**
 * Sends the stored bytes of payments that are in no block, in the order of their nonces, and again until they are in one. What a node answers
 * decides nothing but when they are sent again. Payments come in the order of wallets and nonces.
 */
export async function sendPayments(
  context: Pick<DriverContext, "network" | "node" | "store">,
  chain: Pick<FollowedChain, "headNumber" | "keepLease">,
  payments: readonly SentPayment[],
  { sentAt, monotonicMs }: { sentAt: SentAt; monotonicMs: number },
): Promise<boolean> {
  const { network, node, store } = context;
  const now = { headNumber: chain.headNumber, monotonicMs };
  const due = payments.filter(({ hash }) => isDue(sentAt.get(hash), now));
  if (due.length === 0) return false;
  const bytes = await store.readBytes(
    network.network,
    due.map(({ hash }) => hash),
  );
  for (const batch of network.hasPool ? split(due, togetherMax) : splitInOrder(due)) {
    await chain.keepLease();
    const sent = batch.flatMap(({ hash }) => {
      const one = bytes.get(hash);
      return one === undefined ? [] : [{ hash, bytes: one }];
    });
    const answers = await node.send(sent.map((one) => one.bytes));
    for (const [index, { hash }] of sent.entries()) if (answers[index] !== "unknown") sentAt.set(hash, now);
  }
  return true;
}

/** A payment that is stopped, or waits, is not sent again; only what cancels it is. */
export function isSendable(payment: SentPayment): boolean {
  if (payment.terms.purpose === "cancellation") return true;
  return maySend(payment) && !payment.isFreezing && payment.unsigned !== "cancellation";
}

function isDue(last: Moment | undefined, { headNumber, monotonicMs }: Moment): boolean {
  return (
    last === undefined ||
    headNumber - last.headNumber >= resendAfterBlocks ||
    monotonicMs - last.monotonicMs >= resendAfterMs
  );
}

export function forgetSent(sentAt: SentAt, headNumber: number): void {
  for (const [hash, last] of sentAt)
    if (headNumber - last.headNumber > forgetAfterBlocks) sentAt.delete(hash);
}

/** Without a pool a nonce is taken only after the one before it, so each round has one payment of each wallet, in parts. */
function splitInOrder(payments: readonly SentPayment[]): SentPayment[][] {
  const rounds: SentPayment[][] = [];
  const counts = new Map<string, number>();
  for (const payment of payments) {
    const round = counts.get(payment.walletId) ?? 0;
    counts.set(payment.walletId, round + 1);
    rounds[round] ??= [];
    rounds[round].push(payment);
  }
  return rounds.flatMap((round) => split(round, inOrderMax));
}

function split(payments: readonly SentPayment[], size: number): SentPayment[][] {
  return Array.from({ length: Math.ceil(payments.length / size) }, (_, part) =>
    payments.slice(part * size, (part + 1) * size),
  );
}
