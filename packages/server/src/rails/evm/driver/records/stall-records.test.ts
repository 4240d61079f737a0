import { expect, it } from "vitest";
import { NodesDisagreeError } from "../../../../app/chain/chain-node.js";
import { createStallRecords, explainStall } from "./stall-records.js";

const lease = { network: "eip155:1", holder: "one", fence: "1" };

function openRecords() {
  const stored: string[] = [];
  const clock = { ms: 0 };
  const records = createStallRecords({
    store: {
      recordStall: async (_, stall) =>
        void stored.push(stall === null ? "none" : `${stall.since.getTime()} ${stall.reason}`),
    },
    recorder: { now: () => clock.ms },
    monotonicMs: () => clock.ms,
  });
  /** A step in each second. */
  const steps = async (seconds: number, settledNumber: number, reason?: string) => {
    let shown: string | undefined;
    for (let step = 0; step < seconds; step++) {
      clock.ms += 1000;
      shown = await records.see(lease, settledNumber, reason);
    }
    return shown;
  };
  return { stored, steps, reset: records.reset };
}

it("a network is stalled when nothing was settled for a minute, and until something can be", async () => {
  const { stored, steps } = openRecords();
  await steps(3, 7);
  expect(stored).toEqual(["none"]);
  expect(await steps(60, 7, "Node 2 lags.")).toBeUndefined();
  expect(await steps(1, 7, "Node 2 lags.")).toBe("Node 2 lags.");
  expect(await steps(30, 7, "Node 2 lags.")).toBe("Node 2 lags.");
  expect(stored).toEqual(["none", "4000 Node 2 lags."]);
  expect(await steps(1, 8, "Node 2 lags.")).toBeUndefined();
  await steps(1, 8);
  await steps(9, 8);
  expect(stored).toEqual(["none", "4000 Node 2 lags.", "none"]);
});

it("a reason that changes with each step is stored once in a minute, and one that comes and goes not at all", async () => {
  const { stored, steps } = openRecords();
  for (let step = 0; step < 121; step++) await steps(1, 7, `reason ${step}`);
  expect(stored).toEqual(["1000 reason 60", "1000 reason 120"]);
  const other = openRecords();
  for (let time = 0; time < 5; time++) {
    await other.steps(50, 7, "Node 2 lags.");
    await other.steps(1, 7);
  }
  expect(other.stored).toEqual(["none"]);
});

it("what another process has stored stays until it is known whether more is settled", async () => {
  const { stored, steps, reset } = openRecords();
  await steps(70, 7, "Node 2 lags.");
  reset();
  await steps(5, 7, "Node 2 lags.");
  expect(stored).toHaveLength(1);
  await steps(1, 7);
  expect(stored.at(-1)).toBe("none");
});

it("names what nodes have said, and no other error", () => {
  expect(explainStall(new NodesDisagreeError("1 and 2 disagree."), "waits")).toBe("1 and 2 disagree.");
  expect(explainStall(new Error("secret"), undefined)).toBe(
    "A step has failed, and the log of the service says why.",
  );
  expect(explainStall(undefined, "waits")).toBe("waits");
});
