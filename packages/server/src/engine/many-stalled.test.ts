import { expect, it } from "vitest";
import type { ClaimedPayment, SettlementStore, SettlementUnit } from "../app/transactions/settlement.js";
import { bookRail } from "../rails/book/book-rail.js";
import { createEngine } from "./engine.js";
import { createBatchSettler } from "./settle-batch.js";

class LockError extends Error {}

const idOf = (number: number) => `00000000-0000-7000-8000-${number.toString().padStart(12, "0")}`;
const lockedIds = Array.from({ length: 500 }, (_, index) => idOf(index + 1));
const other = idOf(900);

/** Every tenant has a payment to be settled when it is woken. Time passes only while a statement runs or waits, and in pauses. */
async function runWithLock(releasedAtMs: number) {
  let nowMs = 0;
  let otherWokenMs = 0;
  const pending = new Set([...lockedIds, other]);
  const settledAtMs = new Map<string, number>();
  const otherWaitsMs: number[] = [];
  const takes = (ms: number) => {
    nowMs += ms;
  };
  const paymentOf = (tenantId: string) =>
    ({
      ...{
        tenantId,
        id: tenantId,
        state: "accepted",
        needsJudgement: true,
        isHeld: true,
        asset: "USD",
        amount: 1n,
      },
      ...{ createdAt: new Date(0), expiresAt: null, approval: null, feeHold: null },
      ...{ sourceAccountId: tenantId, destinationAccountId: "b" },
    }) as unknown as ClaimedPayment;
  const claim = (tenantIds: readonly string[]) => tenantIds.filter((id) => pending.has(id)).map(paymentOf);
  const unitWithin = (lockTimeoutMs: number) =>
    ({
      claimAccepted: async (tenants: { tenantId: string }[]) =>
        claim(tenants.map(({ tenantId }) => tenantId)),
      claimAgain: async (keys: { tenantId: string }[]) => claim(keys.map(({ tenantId }) => tenantId)),
      claimDue: async () => [],
      claimRetries: async () => [],
      lockUsage: async () => new Map(),
      lockAccounts: async (accounts: { tenantId: string }[]) => {
        const isLocked = nowMs < releasedAtMs && accounts.some(({ tenantId }) => tenantId !== other);
        takes(isLocked ? lockTimeoutMs : 5);
        if (isLocked) throw new LockError("canceling statement due to lock timeout");
        return new Map();
      },
      write: async (settlements: { transaction: { tenantId: string } }[]) => {
        for (const { transaction } of settlements) {
          pending.delete(transaction.tenantId);
          settledAtMs.set(transaction.tenantId, nowMs);
          if (transaction.tenantId === other) otherWaitsMs.push(nowMs - otherWokenMs);
        }
      },
    }) as unknown as SettlementUnit;
  const settlements: SettlementStore = {
    unitOfWork: (work, lockTimeoutMs) => work(unitWithin(lockTimeoutMs ?? 0)),
    findWork: async () => ({ tenants: [], hasDue: false, hasRetries: false }),
    recordFailure: (_, error) => Promise.reject(error),
  };
  const settleBatch = createBatchSettler({
    settlements,
    rails: { get: () => bookRail },
    policies: { within: () => ({ peek: () => undefined, loadAll: () => Promise.reject(new Error("held")) }) },
    isUnavailable: (error) => error instanceof LockError,
    isTimeout: () => false,
    isLockTimeout: (error) => error instanceof LockError,
    onFailure: () => undefined,
    onTampered: () => undefined,
    now: () => nowMs,
  });
  await new Promise<void>((resolve) => {
    const engine = createEngine({
      settleBatch,
      findWork: settlements.findWork,
      wallets: { activateWallets: async () => 0 },
      onChanged: () => undefined,
      onStalled: () => undefined,
      onError: (error) => expect.unreachable(String(error)),
      isNotified: () => true,
      now: () => nowMs,
      monotonicMs: () => nowMs,
      timers: {
        after: (delayMs, work) => {
          takes(delayMs);
          // The other tenant pays again as soon as it was served.
          if (!pending.has(other)) {
            pending.add(other);
            otherWokenMs = nowMs;
            engine.wake([other]);
          }
          if (settledAtMs.size === lockedIds.length + 1 || nowMs > 600_000) void engine.stop().then(resolve);
          setImmediate(work);
          return () => undefined;
        },
      },
    });
    engine.start();
    engine.wake([...lockedIds, other]);
  });
  const lockedAtMs = lockedIds.map((id) => settledAtMs.get(id) ?? Number.POSITIVE_INFINITY);
  return { otherWaitsMs, lastAtMs: Math.max(...lockedAtMs) };
}

it("serves another tenant while the rows of 500 are locked, and those soon after the lock is released", async () => {
  const { otherWaitsMs, lastAtMs } = await runWithLock(20_000);
  // A second for the batch that waits for the lock, and a bounded time for finding whose lock it is; later only a few short waits.
  expect(otherWaitsMs[0]).toBeLessThan(2000);
  expect(Math.max(...otherWaitsMs.slice(1))).toBeLessThan(300);
  expect(lastAtMs - 20_000).toBeLessThan(15_000);
});
