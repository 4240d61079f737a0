import { expect, it } from "vitest";
import { nodeTimers } from "../../runtime/timers.js";
import { createSweeper, type Sweep, type SweeperDeps, type SweepStore } from "./sweeps.js";

const sweepOf = (tenantId: string, kind: Sweep["kind"]): Sweep => ({
  tenantId,
  clientId: `client of ${tenantId}`,
  kind,
  requestedBy: "officer",
  requestedAt: new Date(1),
});

/** A sweeper over recorded sweeps, in the order given. Nothing is left to do unless a test says so. */
function createWorld(recorded: Sweep[], store: Partial<SweepStore> = {}, deps: Partial<SweeperDeps> = {}) {
  const left = [...recorded];
  const finished: string[] = [];
  const errors: unknown[] = [];
  const sweeper = createSweeper({
    store: {
      listSweeps: async (limit, of) =>
        left.filter(({ tenantId }) => of === undefined || tenantId === of.tenantId).slice(0, limit),
      requestOrderCancels: async () => [],
      hasOpenOrders: async () => false,
      listUnsettled: async () => [],
      requestRailCancels: async () => undefined,
      releaseHeld: async () => [],
      finishSweep: async (sweep) => {
        finished.push(`${sweep.tenantId} ${sweep.kind}`);
        left.splice(left.indexOf(sweep), 1);
      },
      ...store,
    },
    cancelTransactions: async () => 0,
    onOrdersRequested: () => undefined,
    onReleased: () => undefined,
    onRailsRequested: () => undefined,
    onError: (error) => errors.push(error),
    now: () => 1,
    timers: nodeTimers,
    ...deps,
  });
  return { sweeper, finished, errors };
}

const onePage = async (_sweep: Sweep, afterId: string | undefined) => (afterId === undefined ? ["1"] : []);
const endless = async (_sweep: Sweep, afterId: string | undefined) => [String(Number(afterId ?? 0) + 1)];

it("a sweep that cannot finish does not keep another tenant's orders in the books", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "cancel_orders")];
  const { sweeper, finished } = createWorld(
    recorded,
    { listUnsettled: onePage },
    { cancelTransactions: async () => 1 },
  );
  expect(await sweeper.run()).toBe(false);
  expect(finished).toEqual(["b cancel_orders"]);
});

it("a sweep that throws is reported, and the others are carried out", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "cancel_orders")];
  const { sweeper, finished, errors } = createWorld(recorded, {
    requestRailCancels: async () => {
      throw new Error("deadlock detected");
    },
  });
  await sweeper.run();
  expect(finished).toEqual(["b cancel_orders"]);
  expect(errors).toHaveLength(1);
});

it("a sweep of many transactions takes turns with the others, and goes on where it stopped", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "release_transactions")];
  const seen: (string | undefined)[] = [];
  const { sweeper, finished } = createWorld(recorded, {
    listUnsettled: async (sweep, afterId) => {
      seen.push(afterId);
      return await endless(sweep, afterId);
    },
  });
  expect(await sweeper.run()).toBe(true);
  expect(finished).toEqual(["b release_transactions"]);
  const ofFirstTurn = seen.length;
  await sweeper.run();
  expect(seen[ofFirstTurn]).toBe(String(ofFirstTurn));
});

it("a change carries out its own sweeps only, and stops when its time has passed", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "cancel_transactions")];
  const after: (() => void)[] = [];
  const asked: string[] = [];
  const { sweeper, finished } = createWorld(
    recorded,
    {
      listUnsettled: async (sweep, afterId) => {
        asked.push(sweep.tenantId);
        return await onePage(sweep, afterId);
      },
    },
    {
      cancelTransactions: async () => 1,
      timers: {
        after: (_ms, work) => {
          after.push(work);
          return () => undefined;
        },
      },
    },
  );
  const done = sweeper.runFor({ tenantId: "b", clientId: "client of b", isStopped: true });
  while (after.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const [endTime, endPause] = after;
  endTime?.();
  await done;
  const turns = asked.length;
  endPause?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(turns);
  expect(new Set(asked)).toEqual(new Set(["b"]));
  expect(finished).toEqual([]);
});
