import { planJudgement } from "../app/policy/judge-batch.js";
import type { ActivePolicies } from "../app/policy/policy.js";
import type { Rails } from "../app/rails/rail.js";
import { listBehind } from "../app/transactions/list-behind.js";
import {
  accountsOf,
  type ClaimedPayment,
  type Settlement,
  type SettlementStore,
  type SettlementUnit,
  type TransactionKey,
} from "../app/transactions/settlement.js";
import { isolateFailingRows } from "../runtime/concurrency/isolate-failing-rows.js";
import { leaveOutLocked, shortLockTimeoutMs } from "../runtime/concurrency/leave-out-locked.js";
import { decideBatch } from "./decide-batch.js";

export interface SettleBatchDeps {
  settlements: SettlementStore;
  rails: Pick<Rails, "get">;
  policies: Pick<ActivePolicies, "within">;
  /** Whether an error means that the database is unavailable or timed out: then no transaction is at fault. */
  isUnavailable: (error: unknown) => boolean;
  /** Whether an error is a statement that took too long, of a database that is available otherwise. */
  isTimeout: (error: unknown) => boolean;
  /** Whether an error is a lock that was waited for in vain. */
  isLockTimeout: (error: unknown) => boolean;
  /** Called for a transaction that cannot be settled, when its row says so. */
  onFailure: (key: TransactionKey, error: unknown) => void;
  /** Called for a transaction that was set aside because its row was changed in the database. */
  onTampered: (key: TransactionKey) => void;
  now: () => number;
}

export type ClaimBatch = (unit: SettlementUnit) => Promise<ClaimedPayment[]>;

/** How long a batch waits for a lock that something else holds. */
interface LockWaits {
  lockTimeoutMs: number;
  /** Called for each tenant on whose rows it was. */
  onStalled: (tenantId: string) => void;
  /** Called for those that were not reached, because too many were locked. */
  onUnknown: (tenantIds: readonly string[]) => void;
}

/** Settles what a claim finds, and returns what has changed or was set aside. Tenants whose rows are locked are left out. */
export type SettleBatch = (claim: ClaimBatch, waits: LockWaits) => Promise<Settlement[]>;

/**
 * Where the engine moves money: claim, lock, decide, write, in one SQL transaction. If a batch fails, the transactions at fault are
 * found and record their failure, and the others are settled.
 */
export function createBatchSettler(deps: SettleBatchDeps): SettleBatch {
  const { settlements, rails, policies, now } = deps;

  function settle(
    claim: ClaimBatch,
    lockTimeoutMs: number,
    onClaimed: (claimed: readonly TransactionKey[]) => void = () => undefined,
  ) {
    return settlements.unitOfWork(async (unit) => {
      const claimed = await claim(unit);
      onClaimed(claimed);
      if (claimed.length === 0) return [];
      // What is held is set aside without being judged. Its tenant may be suspended, and then its row is share-locked: another engine
      // that has claimed more of that tenant holds the same lock, and both would wait for the other to lock the usage.
      const sound = claimed.filter(
        ({ isTampered, hasForgedStop }) => !(isTampered === true || hasForgedStop === true),
      );
      const toJudge = sound.filter(
        ({ state, needsJudgement, isHeld }) => state === "accepted" && needsJudgement && !isHeld,
      );
      const waiting = sound.filter(({ approval }) => approval !== null);
      const behind = await listBehind(unit, rails, sound);
      const plan = await planJudgement(policies.within(unit), toJudge, waiting);
      const usage = await unit.lockUsage(plan.windows, new Date(now()));
      const balances = await unit.lockAccounts(accountsOf(sound));
      // The time of the decision, when everything is locked: what happened before it has been seen.
      const facts = { balances, usage, rails, behind, policies: plan.policies, now: new Date(now()) };
      const decided = decideBatch(claimed, facts);
      await unit.write(decided, balances);
      return decided.filter(({ decision, heldUntil }) => decision !== undefined || heldUntil !== undefined);
    }, lockTimeoutMs);
  }

  /** Settles what was claimed of the tenants in whose rows nothing is locked. */
  async function leaveOutStalled(
    keys: readonly TransactionKey[],
    { onStalled, onUnknown }: LockWaits,
  ): Promise<Settlement[]> {
    const tenantIds = [...new Set(keys.map(({ tenantId }) => tenantId))];
    if (tenantIds.length === 1) {
      onStalled(tenantIds[0] as string);
      return [];
    }
    const settleTenants = (some: readonly string[]) =>
      settle(
        (unit) => unit.claimAgain(keys.filter(({ tenantId }) => some.includes(tenantId))),
        shortLockTimeoutMs,
      );
    const { isLockTimeout, isUnavailable } = deps;
    const settled = await leaveOutLocked(tenantIds, settleTenants, {
      ...{ isLockTimeout, isUnavailable, onLocked: onStalled, onUnknown },
    });
    return settled.flat();
  }

  async function recordFailure(key: TransactionKey, error: unknown): Promise<void> {
    await settlements.recordFailure(key, error, new Date(now()));
    deps.onFailure(key, error);
  }

  function reportTampered(settled: Settlement[]): Settlement[] {
    for (const { transaction, fault } of settled) if (fault !== undefined) deps.onTampered(transaction);
    return settled;
  }

  return async (claim, waits) => {
    const { lockTimeoutMs } = waits;
    let claimed: readonly TransactionKey[] = [];
    try {
      return reportTampered(
        await settle(claim, lockTimeoutMs, (keys) => {
          claimed = keys;
        }),
      );
    } catch (error) {
      const keys = claimed.map(({ tenantId, id }) => ({ tenantId, id }));
      if (keys.length > 0 && deps.isLockTimeout(error))
        return reportTampered(await leaveOutStalled(keys, waits));
      // The engine claims less after a timeout. If that has led to a single row, the row is at fault: claimed first each time, it
      // would hold up all others for good.
      const [only] = claimed;
      if (only !== undefined && claimed.length === 1 && deps.isTimeout(error)) {
        await recordFailure({ tenantId: only.tenantId, id: only.id }, error);
        return [];
      }
      // Without rows there is nothing to isolate: it was the claim itself that failed.
      if (deps.isUnavailable(error) || claimed.length === 0) throw error;
      const settled = await isolateFailingRows(
        keys,
        (some) => settle((unit) => unit.claimAgain(some), lockTimeoutMs),
        { isUnavailable: deps.isUnavailable, onFailure: recordFailure },
      );
      return reportTampered(settled.flat());
    }
  };
}
