import { describe, expect, it } from "vitest";
import { createLongWait } from "../../runtime/concurrency/long-wait.js";
import type { StopSubject } from "../access/stop-in-any-case.js";
import { createOrderChanges, type OrderChangesDeps } from "./order-changes.js";

/** A wallet whose orders stay in a book, and a clock that moves with the pauses. */
function setUp() {
  let nowMs = 0;
  let looks = 0;
  const pauses: number[] = [];
  const held: string[] = [];
  const changes = createOrderChanges({
    store: {
      requestCancelsOfFrozenWallet: async () => ["BTC-USD"],
      hasOrdersOfFrozenWallet: async () => {
        looks += 1;
        return true;
      },
    },
    holdOrders: async ({ subjectId }: StopSubject) => {
      held.push(subjectId);
    },
    longWait: createLongWait(),
    onRequested: () => undefined,
    monotonicMs: () => nowMs,
    timers: {
      after: (ms: number, work: () => void) => {
        pauses.push(ms);
        nowMs += ms;
        setImmediate(work);
        return () => undefined;
      },
    },
  } as unknown as OrderChangesDeps);
  return { changes, held, pauses, looks: () => looks };
}

describe("waiting for the orders of a frozen wallet", () => {
  it("looks less and less often, and gives up; they do not trade then", async () => {
    const { changes, held, pauses, looks } = setUp();
    expect(await changes.cancelOrdersOfFrozenWallet("t", "w")).toBe("remaining");
    expect(pauses.slice(0, 5)).toEqual([20, 40, 80, 160, 200]);
    expect(looks()).toBeLessThan(40);
    expect(held).toEqual(["w"]);
  });

  it("is shared by all requests that freeze the wallet", async () => {
    const { changes, looks } = setUp();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => changes.cancelOrdersOfFrozenWallet("t", "w")),
    );
    expect(new Set(answers)).toEqual(new Set(["remaining"]));
    expect(looks()).toBeLessThan(40);
  });

  it("is brief for a wallet whose freeze comes while another one waits", async () => {
    const { changes, held } = setUp();
    const order: string[] = [];
    const freeze = async (walletId: string) => {
      await changes.cancelOrdersOfFrozenWallet("t", walletId);
      order.push(walletId);
    };
    await Promise.all([freeze("long"), freeze("brief")]);
    expect(order).toEqual(["brief", "long"]);
    expect(held).toEqual(["brief", "long"]);
  });
});
