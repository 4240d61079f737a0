import { expect, it } from "vitest";
import type {
  ClaimedPayment,
  SettlementStore,
  SettlementUnit,
  TransactionKey,
} from "../app/transactions/settlement.js";
import { bookRail } from "../rails/book/book-rail.js";
import { createBatchSettler } from "./settle-batch.js";

class TimeoutError extends Error {}

const waits = { lockTimeoutMs: 1000, onStalled: () => undefined, onUnknown: () => undefined };

/** A settler on a database in which locking the accounts takes too long. */
function settlerThatTimesOut() {
  const failed: TransactionKey[] = [];
  const unit = {
    lockUsage: async () => new Map(),
    lockAccounts: () => Promise.reject(new TimeoutError("canceling statement due to statement timeout")),
  } as unknown as SettlementUnit;
  const settlements: SettlementStore = {
    unitOfWork: (work) => work(unit),
    findWork: async () => ({ tenants: [], hasDue: false, hasRetries: false }),
    recordFailure: async (key) => void failed.push(key),
  };
  const settleBatch = createBatchSettler({
    settlements,
    rails: { get: () => bookRail },
    policies: {
      within: () => ({
        peek: () => undefined,
        loadAll: () => Promise.reject(new Error("nothing is judged")),
      }),
    },
    isUnavailable: (error) => error instanceof TimeoutError,
    isTimeout: (error) => error instanceof TimeoutError,
    isLockTimeout: () => false,
    onFailure: () => undefined,
    onTampered: () => undefined,
    now: () => 0,
  });
  return { settleBatch, failed };
}

const payments = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => ({ tenantId: "t", id: `${index}`, approval: null }) as ClaimedPayment,
  );

it("blames no transaction for the timeout of a batch of several, so that the engine takes fewer", async () => {
  const { settleBatch, failed } = settlerThatTimesOut();
  await expect(settleBatch(async () => payments(2), waits)).rejects.toThrow(TimeoutError);
  expect(failed).toEqual([]);
});

it("records the timeout of a transaction alone, so that it does not hold up the others", async () => {
  const { settleBatch, failed } = settlerThatTimesOut();
  expect(await settleBatch(async () => payments(1), waits)).toEqual([]);
  expect(failed).toEqual([{ tenantId: "t", id: "0" }]);
});

it("does not judge held payments, because two engines that lock the usage of a suspended tenant would deadlock", async () => {
  const locked: unknown[] = [];
  const unit = {
    lockUsage: async (windows: unknown[]) => {
      locked.push(...windows);
      return new Map();
    },
    lockAccounts: async () => new Map(),
    write: async () => undefined,
  } as unknown as SettlementUnit;
  const settleBatch = createBatchSettler({
    settlements: {
      unitOfWork: (work) => work(unit),
      findWork: async () => ({ tenants: [], hasDue: false, hasRetries: false }),
      recordFailure: (_, error) => Promise.reject(error),
    },
    rails: { get: () => bookRail },
    policies: {
      within: () => ({
        peek: () => undefined,
        loadAll: () => Promise.reject(new Error("nothing is judged")),
      }),
    },
    isUnavailable: () => true,
    isTimeout: () => false,
    isLockTimeout: () => false,
    onFailure: () => undefined,
    onTampered: () => undefined,
    now: () => 0,
  });
  const held = {
    ...{ tenantId: "t", id: "0", state: "accepted", needsJudgement: true, isHeld: true },
    ...{ createdAt: new Date(0), expiresAt: null, approval: null, feeHold: null },
    ...{ sourceAccountId: "a", destinationAccountId: "b", asset: "USD", amount: 1n },
  } as unknown as ClaimedPayment;
  expect(await settleBatch(async () => [held], waits)).toMatchObject([{ heldUntil: "infinity" }]);
  expect(locked).toEqual([]);
});
