import type { Estimate, PaymentDraft } from "../../../app/chain/chain-node.js";
import type { ReadyPayment } from "../../../app/chain/chain-store.js";
import { contractOf, type DriverContext } from "./driver-context.js";

/**
 * Estimates execute what others have written: a contract can make its own slow enough that a node gives up. So they are asked for in small
 * groups of one wallet, and a group that fails delays no other. Its payments are tried again one by one, later each time, and after those
 * that have not failed. It is only in memory: a process that has forgotten it asks once more.
 */
export interface Estimates {
  /** In any order, without those that are not due, could not be estimated, or found no time in this step. */
  readonly estimate: (
    context: Pick<DriverContext, "network" | "node">,
    payments: readonly ReadyPayment[],
  ) => Promise<Estimated[]>;
  /** Whether a payment could not be estimated, and is not tried now. */
  readonly isPaused: (payment: { id: string }) => boolean;
  /** How many of each wallet are not tried now, by its id. */
  readonly countPaused: () => ReadonlyMap<string, number>;
}

export interface Estimated {
  payment: ReadyPayment;
  estimate: Exclude<Estimate, { refused: "UNAVAILABLE" }>;
}

interface Failure {
  walletId: string;
  count: number;
  dueMs: number;
}

const groupMax = 8;
/** How many groups are asked for at once. */
const parallelMax = 4;
/** No group is begun after this time; the next step goes on. */
const budgetMs = 2000;
const firstPauseMs = 500;
const pauseMaxMs = 60_000;
const failuresMax = 10_000;

export function createEstimates(monotonicMs: () => number): Estimates {
  const failures = new Map<string, Failure>();

  const isDue = ({ dueMs }: Failure) => dueMs <= monotonicMs();

  function fail({ id, walletId }: ReadyPayment): void {
    const count = (failures.get(id)?.count ?? 0) + 1;
    const pauseMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(count, 16));
    failures.delete(id);
    failures.set(id, { walletId, count, dueMs: monotonicMs() + pauseMs });
    const [oldest] = failures.keys();
    if (failures.size > failuresMax && oldest !== undefined) failures.delete(oldest);
  }

  function groupsOf(payments: readonly ReadyPayment[]): ReadyPayment[][] {
    const fresh = new Map<string, ReadyPayment[]>();
    const failed: ReadyPayment[] = [];
    for (const payment of payments) {
      const failure = failures.get(payment.id);
      if (failure !== undefined && isDue(failure)) failed.push(payment);
      if (failure === undefined)
        fresh.set(payment.walletId, [...(fresh.get(payment.walletId) ?? []), payment]);
    }
    const dueMs = ({ id }: ReadyPayment) => failures.get(id)?.dueMs ?? 0;
    const alone = failed.sort((one, other) => dueMs(one) - dueMs(other)).map((payment) => [payment]);
    return [...[...fresh.values()].flatMap(split), ...alone];
  }

  return {
    isPaused: ({ id }) => {
      const failure = failures.get(id);
      return failure !== undefined && !isDue(failure);
    },
    countPaused: () => {
      const counts = new Map<string, number>();
      for (const failure of failures.values())
        if (!isDue(failure)) counts.set(failure.walletId, (counts.get(failure.walletId) ?? 0) + 1);
      return counts;
    },
    estimate: async (context, payments) => {
      const endsMs = monotonicMs() + budgetMs;
      const groups = groupsOf(payments);
      const estimated: Estimated[] = [];
      while (groups.length > 0 && monotonicMs() < endsMs) {
        const asked = groups.splice(0, parallelMax);
        const answers = await Promise.all(asked.map((group) => estimateGroup(context, group)));
        for (const [payment, estimate] of answers.flat()) {
          const isUnavailable = estimate === undefined || isFailed(estimate);
          if (isUnavailable) fail(payment);
          else failures.delete(payment.id);
          if (!isUnavailable) estimated.push({ payment, estimate });
        }
      }
      return estimated;
    },
  };
}

function isFailed(estimate: Estimate): estimate is { refused: "UNAVAILABLE" } {
  return "refused" in estimate && estimate.refused === "UNAVAILABLE";
}

async function estimateGroup(
  { network, node }: Pick<DriverContext, "network" | "node">,
  group: readonly ReadyPayment[],
): Promise<[ReadyPayment, Estimate | undefined][]> {
  const drafts = group.map(
    ({ address, asset, destination, amount }): PaymentDraft => ({
      ...{ from: address, contract: contractOf(network, asset), destination, amount },
    }),
  );
  const estimates = await node.estimate(drafts);
  return group.map((payment, index) => [payment, estimates[index]]);
}

function split(payments: readonly ReadyPayment[]): ReadyPayment[][] {
  const groups: ReadyPayment[][] = [];
  for (let start = 0; start < payments.length; start += groupMax)
    groups.push(payments.slice(start, start + groupMax));
  return groups;
}
