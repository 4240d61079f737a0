import { type Estimate, NodeUnavailableError, type PaymentDraft } from "../../../app/chain/chain-node.js";
import type { ReadyPayment } from "../../../app/chain/chain-store.js";
import { shownPaymentId } from "../../../app/transactions/approvals/present-approval.js";
import { contractOf, type DriverContext } from "./driver-context.js";

/**
 * Estimates execute what others have written: a contract can make its own slow enough that a node gives up. So they are asked for in small
 * groups of one wallet, for which a node has little time, and a group that fails delays no other. Its payments are tried again one by one with
 * the time that every request has, because the node may be slow with everything: later each time, after those that have not failed, and not
 * in more than a third of the time. It is only in memory: a process that has forgotten it asks once more.
 */
export interface Estimates {
  readonly estimate: (
    context: EstimateContext,
    payments: readonly ReadyPayment[],
  ) => Promise<{
    /** In any order, without those that are not due, could not be estimated, or found no time in this step. */
    readonly estimated: Estimated[];
    /** The ids of tenants of which nothing found time in this step. */
    readonly unbegun: ReadonlySet<string>;
  }>;
  /** Whether a payment could not be estimated, and is not tried now. */
  readonly isPaused: (payment: { id: string }) => boolean;
  /** How many of each wallet are not tried now, by its id. */
  readonly countPaused: () => ReadonlyMap<string, number>;
  /** How many payments no node has estimated for a minute, without those that are not tried any more, as after a cancellation. */
  readonly countUnestimated: () => number;
}

type EstimateContext = Pick<DriverContext, "network" | "node">;

export interface Estimated {
  payment: ReadyPayment;
  estimate: Exclude<Estimate, { refused: "UNAVAILABLE" }>;
}

interface Failure {
  walletId: string;
  count: number;
  sinceMs: number;
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
/** A payment that no node has estimated for so long is reported, and no other for as long. */
const reportAfterMs = 60_000;
/** What waits is tried again soon after it is due, unless thousands do. */
const endedAfterMs = 300_000;

export function createEstimates(
  monotonicMs: () => number,
  onUnestimated: (error: NodeUnavailableError) => void,
): Estimates {
  const failures = new Map<string, Failure>();
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  let aloneFromMs = Number.NEGATIVE_INFINITY;
  let steps = 0;

  const isDue = ({ dueMs }: Failure) => dueMs <= monotonicMs();

  function fail({ id, walletId }: ReadyPayment): void {
    const nowMs = monotonicMs();
    const known = failures.get(id);
    const count = (known?.count ?? 0) + 1;
    const sinceMs = known?.sinceMs ?? nowMs;
    const pauseMs = Math.min(pauseMaxMs, firstPauseMs * 2 ** Math.min(count, 16));
    failures.delete(id);
    failures.set(id, { walletId, count, sinceMs, dueMs: nowMs + pauseMs });
    const [oldest] = failures.keys();
    if (failures.size > failuresMax && oldest !== undefined) failures.delete(oldest);
    if (nowMs - sinceMs < reportAfterMs || nowMs - reportedAtMs < reportAfterMs) return;
    reportedAtMs = nowMs;
    onUnestimated(unestimated(id, nowMs - sinceMs));
  }

  function groupsOf(payments: readonly ReadyPayment[]) {
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
    return { groups: groupsInTurn([...fresh.values()], steps), alone };
  }

  /** Asks for groups until the time is used up, and returns what was estimated. */
  async function estimateGroups(
    context: EstimateContext,
    groups: ReadyPayment[][],
    { endsMs, patience }: { endsMs: number; patience?: "brief" },
  ): Promise<Estimated[]> {
    const estimated: Estimated[] = [];
    while (groups.length > 0 && monotonicMs() < endsMs) {
      const asked = groups.splice(0, parallelMax);
      const answers = await Promise.all(asked.map((group) => estimateGroup(context, group, patience)));
      for (const [payment, estimate] of answers.flat()) {
        const isUnavailable = estimate === undefined || isFailed(estimate);
        if (isUnavailable) fail(payment);
        else failures.delete(payment.id);
        if (!isUnavailable) estimated.push({ payment, estimate });
      }
    }
    return estimated;
  }

  /** Also when the others have used up the time of the step: if a node is slow with everything, they always do. */
  async function estimateAlone(context: EstimateContext, alone: ReadyPayment[][]): Promise<Estimated[]> {
    const beganMs = monotonicMs();
    if (alone.length === 0 || beganMs < aloneFromMs) return [];
    const estimated = await estimateGroups(context, alone, { endsMs: beganMs + budgetMs });
    const nowMs = monotonicMs();
    aloneFromMs = nowMs + 2 * (nowMs - beganMs);
    return estimated;
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
    countUnestimated: () => {
      const nowMs = monotonicMs();
      const isWaiting = ({ sinceMs, dueMs }: Failure) =>
        nowMs - sinceMs >= reportAfterMs && nowMs - dueMs < endedAfterMs;
      return [...failures.values()].filter(isWaiting).length;
    },
    estimate: async (context, payments) => {
      const endsMs = monotonicMs() + budgetMs;
      steps += 1;
      const { groups, alone } = groupsOf(payments);
      const all = [...groups];
      const estimated = await estimateGroups(context, groups, { endsMs, patience: "brief" });
      const unbegun = new Set(groups.map(tenantOf));
      for (const group of all.slice(0, all.length - groups.length)) unbegun.delete(tenantOf(group));
      return { estimated: [...estimated, ...(await estimateAlone(context, alone))], unbegun };
    },
  };
}

function isFailed(estimate: Estimate): estimate is { refused: "UNAVAILABLE" } {
  return "refused" in estimate && estimate.refused === "UNAVAILABLE";
}

function unestimated(id: string, sinceMs: number): NodeUnavailableError {
  return new NodeUnavailableError(
    `No node has estimated the payment ${shownPaymentId(id)} for ${Math.floor(sinceMs / 60_000)} min, so it has no nonce, and others may wait too. It is tried again. If other payments are sent, its destination takes too long to execute; otherwise the nodes are too slow.`,
  );
}

async function estimateGroup(
  { network, node }: EstimateContext,
  group: readonly ReadyPayment[],
  patience: "brief" | undefined,
): Promise<[ReadyPayment, Estimate | undefined][]> {
  const drafts = group.map(
    ({ address, asset, destination, amount }): PaymentDraft => ({
      ...{ from: address, contract: contractOf(network, asset), destination, amount },
    }),
  );
  const estimates = await node.estimate(drafts, patience);
  return group.map((payment, index) => [payment, estimates[index]]);
}

const tenantOf = ([first]: readonly ReadyPayment[]) => first?.tenantId ?? "";

/**
 * A group of each tenant in turn, and of each of its wallets in turn: what a tenant pays to, and how many wallets it has, does not delay the
 * others. If the time is always used up, each step begins with another of its wallets.
 */
function groupsInTurn(wallets: readonly (readonly ReadyPayment[])[], step: number): ReadyPayment[][] {
  const tenants = new Map<string, ReadyPayment[][][]>();
  for (const payments of wallets)
    tenants.set(tenantOf(payments), [...(tenants.get(tenantOf(payments)) ?? []), split(payments)]);
  const rotated = [...tenants.values()].map((all) => {
    const first = step % all.length;
    return [...all.slice(first), ...all.slice(0, first)];
  });
  return interleave(rotated.map(interleave));
}

/** The first of each list, then the second of each, and so on. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) =>
    lists.flatMap((list) => list.slice(index, index + 1)),
  ).flat();
}

function split(payments: readonly ReadyPayment[]): ReadyPayment[][] {
  const groups: ReadyPayment[][] = [];
  for (let start = 0; start < payments.length; start += groupMax)
    groups.push(payments.slice(start, start + groupMax));
  return groups;
}
