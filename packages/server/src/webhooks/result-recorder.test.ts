import { describe, expect, it } from "vitest";
import type { AttemptResult } from "../app/webhooks/sending.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createResultRecorder } from "./result-recorder.js";

class UnavailableError extends Error {}

/** A recorder on a store that refuses every batch with a delivery called `bad`, and the failures of those called `worse` too. */
function setUp({ unavailableTimes = 0 } = {}) {
  const batches: string[][] = [];
  const [failed, forgotten, lost]: [string[], string[], string[]] = [[], [], []];
  let left = unavailableTimes;
  const recorder = createResultRecorder({
    store: {
      recordResults: async (results) => {
        const ids = results.map(({ deliveryId }) => deliveryId);
        if (left-- > 0) throw new UnavailableError();
        if (ids.includes("bad") || ids.includes("worse")) throw new Error("refused");
        batches.push(ids);
      },
      recordFailure: async ({ id }) => {
        if (id === "worse") throw new Error("refused again");
        failed.push(id);
      },
    },
    onError: () => undefined,
    onDeliveryFailed: () => undefined,
    isUnavailable: (error) => error instanceof UnavailableError,
    now: Date.now,
    timers: { after: (_ms, work) => nodeTimers.after(0, work) },
  });
  const add = (...ids: string[]) => {
    for (const id of ids) {
      const result = { lease: { tenantId: "tenant" }, deliveryId: id } as AttemptResult;
      recorder.add({
        result,
        health: undefined,
        onRecorded: () => forgotten.push(id),
        onLost: () => lost.push(id),
      });
    }
  };
  const settle = async (count: number) => {
    while (forgotten.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { recorder, add, settle, batches, failed, forgotten, lost };
}

describe("recording the outcomes of attempts", () => {
  it("writes those that arrive together in one batch", async () => {
    const { add, settle, batches } = setUp();
    add("a", "b", "c");
    await settle(3);
    expect(batches).toEqual([["a", "b", "c"]]);
  });

  it("records a failure on the delivery whose outcome the database refuses, and records the others", async () => {
    const { add, settle, batches, failed } = setUp();
    add("a", "b", "bad", "c");
    await settle(4);
    expect([batches.flat(), failed]).toEqual([["a", "b", "c"], ["bad"]]);
  });

  it("reports a delivery for which not even the failure can be recorded, and records the others", async () => {
    const { add, settle, batches, failed, lost } = setUp();
    add("a", "worse", "b");
    await settle(3);
    expect([batches.flat(), failed, lost]).toEqual([["a", "b"], [], ["worse"]]);
  });

  it("blames no delivery while the database is unavailable, and records each once when it is back", async () => {
    const { add, settle, batches, failed } = setUp({ unavailableTimes: 12 });
    add("a", "b", "c");
    await settle(3);
    expect([batches.flat(), failed]).toEqual([["a", "b", "c"], []]);
  });

  it("tries once to record what is left when it closes", async () => {
    const { recorder, add, forgotten } = setUp({ unavailableTimes: 1 });
    const closed = recorder.close();
    await closed;
    add("a");
    expect(forgotten).toEqual([]);
    const other = setUp();
    other.add("a", "b");
    await other.recorder.close();
    expect(other.forgotten).toEqual(["a", "b"]);
  });
});
