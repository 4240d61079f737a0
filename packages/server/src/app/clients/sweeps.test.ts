import { describe, expect, it } from "vitest";
import { createLongWait } from "../../runtime/concurrency/long-wait.js";
import { nodeTimers } from "../../runtime/loops/timers.js";
import type { StopSubject } from "../access/stop-in-any-case.js";
import { allClients, type OpenPage, type Sweep, type SweepStore } from "./sweep.js";
import { createSweeper, type SweeperDeps } from "./sweeps.js";

const lockTimeout = new Error("canceling statement due to lock timeout");

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
  const held: StopSubject[] = [];
  const sweeper = createSweeper({
    store: {
      cancelStoppedOrders: async () => ({ markets: [], next: undefined }),
      listCancellingStops: async () => ({ stops: [], next: undefined }),
      listStoppedPayments: async () => ({ unsettled: [], onRail: [], next: undefined }),
      listSweeps: async (group, limit, of) =>
        left
          .filter(({ kind }) => (kind === "cancel_orders") === (group === "orders"))
          .filter(({ tenantId }) => of === undefined || tenantId === of.tenantId)
          .slice(0, limit),
      requestOrderCancels: async () => [],
      hasOpenOrders: async () => false,
      listOpen: async () => nothing,
      requestRailCancels: async () => undefined,
      releaseHeld: async () => ({ releasedCount: 0, next: undefined }),
      finishSweep: async (sweep) => {
        finished.push(`${sweep.tenantId} ${sweep.kind}`);
        left.splice(left.indexOf(sweep), 1);
      },
      ...store,
    },
    holdOrders: async (subject) => {
      held.push(subject);
    },
    cancelTransactions: async () => 0,
    onOrdersRequested: () => undefined,
    longWait: createLongWait(),
    onReleased: () => undefined,
    onRailsRequested: () => undefined,
    isLockTimeout: (error) => error === lockTimeout,
    onError: (error) => errors.push(error),
    now: () => 60_000,
    timers: nodeTimers,
    ...deps,
  });
  return { sweeper, finished, errors, held, left };
}

const nothing: OpenPage = { unsettled: [], onRail: [], next: undefined };
const onePage = async (): Promise<OpenPage> => ({ ...nothing, unsettled: ["1"] });
const endless = async (_sweep: Sweep, after: string | undefined): Promise<OpenPage> => {
  const id = String(Number(after ?? 0) + 1);
  return { ...nothing, unsettled: [id], next: id };
};

it("a sweep that cannot finish does not keep another tenant's orders in the books", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "cancel_orders")];
  const { sweeper, finished } = createWorld(
    recorded,
    { listOpen: onePage },
    { cancelTransactions: async () => 1 },
  );
  expect(await sweeper.run()).toBe(false);
  expect(finished).toEqual(["b cancel_orders"]);
});

it("a sweep that throws is reported, and the others are carried out", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "cancel_orders")];
  const { sweeper, finished, errors } = createWorld(recorded, {
    listOpen: async () => {
      throw new Error("deadlock detected");
    },
  });
  await sweeper.run();
  expect(finished).toEqual(["b cancel_orders"]);
  expect(errors).toHaveLength(1);
});

it("a tenant whose rows are locked is waited for once, however many of its clients are swept", async () => {
  const ofClients = Array.from({ length: 20 }, (_, index) => ({
    ...sweepOf("a", "cancel_transactions"),
    clientId: `client ${index}`,
  }));
  let waits = 0;
  const { sweeper, finished, errors } = createWorld(
    [...ofClients, sweepOf("b", "cancel_transactions")],
    { listOpen: onePage },
    {
      cancelTransactions: async (tenantId) => {
        if (tenantId === "b") return 0;
        waits += 1;
        throw lockTimeout;
      },
    },
  );
  expect(await sweeper.run()).toBe(false);
  await sweeper.runFor({ tenantId: "a", clientId: "client 7", isStopped: true });
  expect([waits, finished, errors]).toEqual([1, ["b cancel_transactions"], [lockTimeout]]);
});

it("a sweep of many transactions takes turns with the others, and goes on where it stopped", async () => {
  const recorded = [sweepOf("a", "cancel_transactions"), sweepOf("b", "release_transactions")];
  const seen: (string | undefined)[] = [];
  const { sweeper, finished } = createWorld(recorded, {
    listOpen: async (sweep, after) => {
      seen.push(after);
      return await endless(sweep, after);
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
      listOpen: async (sweep) => {
        asked.push(sweep.tenantId);
        return await onePage();
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

describe("orders that are still in a book when a stop is answered", () => {
  const change = { tenantId: "a", clientId: "client", isStopped: true };
  const atOnce: SweeperDeps["timers"] = {
    after: (_ms, work) => {
      setImmediate(work);
      return () => undefined;
    },
  };

  it.each([
    ["of a client", change.clientId, "client"],
    ["of a tenant", allClients, "a"],
  ])("%s do not trade", async (_, clientId, subjectId) => {
    const { sweeper, held } = createWorld([], { hasOpenOrders: async () => true }, { timers: atOnce });
    await sweeper.runFor({ ...change, clientId });
    expect(held).toEqual([{ tenantId: "a", subjectId }]);
  });

  it("do not trade either if nobody knows whether there are any", async () => {
    const failing = async () => Promise.reject(lockTimeout);
    const { sweeper, held, errors } = createWorld([], { hasOpenOrders: failing });
    await sweeper.runFor(change);
    expect([held, errors]).toEqual([[{ tenantId: "a", subjectId: "client" }], [lockTimeout]]);
  });

  it("have nothing to wait for if there are none, or if the client is enabled", async () => {
    const none = createWorld([]);
    await none.sweeper.runFor(change);
    const enabled = createWorld([], { hasOpenOrders: async () => true });
    await enabled.sweeper.runFor({ ...change, isStopped: false });
    expect([none.held, enabled.held]).toEqual([[], []]);
  });
});

it("of several changes that wait for their sweeps, one waits long, and the orders of all are held", async () => {
  const { sweeper, held } = createWorld([], { hasOpenOrders: async () => true });
  let isWaiting = true;
  const run = (tenantId: string) => sweeper.runFor({ tenantId, clientId: "client", isStopped: true });
  const first = run("a").then(() => {
    isWaiting = false;
  });
  await Promise.all([run("b"), run("a")]);
  expect(isWaiting).toBe(true);
  expect(held.map(({ tenantId }) => tenantId).sort()).toEqual(["a", "b"]);
  await first;
  expect(held).toHaveLength(3);
});

it("a long turn of one tenant's transactions does not keep another tenant's orders in the books", async () => {
  let endTurn: (page: OpenPage) => void = () => undefined;
  const { sweeper, finished, left } = createWorld([sweepOf("a", "cancel_transactions")], {
    listOpen: () =>
      new Promise((resolve) => {
        endTurn = resolve;
        left.push(sweepOf("b", "cancel_orders"));
      }),
  });
  const running = sweeper.run();
  while (left.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await sweeper.runFor({ tenantId: "b", clientId: "client of b", isStopped: true });
  expect(finished).toEqual(["b cancel_orders"]);
  endTurn(nothing);
  await running;
  expect(finished).toEqual(["b cancel_orders", "a cancel_transactions"]);
});

it("what was on its way when the client was disabled is cancelled by a second pass", async () => {
  let nowMs = 2;
  let endRest: () => void = () => undefined;
  const cancelled: string[] = [];
  const { sweeper, finished } = createWorld(
    [sweepOf("a", "cancel_transactions")],
    { listOpen: async () => ({ ...nothing, unsettled: nowMs > 2 ? ["late"] : ["early"] }) },
    {
      cancelTransactions: async (_tenantId, ids) => {
        cancelled.push(...ids);
        return 0;
      },
      now: () => nowMs,
      timers: {
        after: (_ms, work) => {
          endRest = work;
          return () => undefined;
        },
      },
    },
  );
  await sweeper.run();
  await sweeper.run();
  expect([cancelled, finished]).toEqual([["early"], []]);
  nowMs = 10_001;
  endRest();
  await sweeper.run();
  expect([cancelled, finished]).toEqual([["early", "late"], ["a cancel_transactions"]]);
});

it("what a rail works on is asked to be cancelled page by page", async () => {
  const asked: (readonly string[])[] = [];
  const pages: OpenPage[] = [
    { unsettled: [], onRail: ["1", "2"], next: "2" },
    { unsettled: ["3"], onRail: ["4"], next: undefined },
  ];
  const { sweeper, finished } = createWorld([sweepOf("a", "cancel_transactions")], {
    listOpen: async (_sweep, after) => pages[after === undefined ? 0 : 1] ?? nothing,
    requestRailCancels: async (_sweep, ids) => void asked.push(ids),
  });
  await sweeper.run();
  expect(asked).toEqual([["1", "2"], ["4"]]);
  expect(finished).toEqual(["a cancel_transactions"]);
});
