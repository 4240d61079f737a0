import { describe, expect, it } from "vitest";
import { NodesDisagreeError, NodeUnavailableError } from "../../app/chain/chain-node.js";
import { createNetworkErrorReporter } from "./report-network-errors.js";

function createReporter() {
  const lines: [string, unknown][] = [];
  const clock = { ms: 0 };
  const report = createNetworkErrorReporter(
    {
      unavailable: (reason) => lines.push(["unavailable", reason]),
      disputed: (reason) => lines.push(["disputed", reason]),
      failed: (error) => lines.push(["failed", error]),
    },
    () => clock.ms,
  );
  return { lines, clock, report };
}

describe("a network that cannot be followed", () => {
  it("is reported once, when the reason changes, and each minute", () => {
    const { lines, clock, report } = createReporter();
    for (const [ms, message] of [
      [0, "refused"],
      [1000, "refused"],
      [2000, "timed out"],
      [3000, "timed out"],
      [62_000, "timed out"],
    ] as const) {
      clock.ms = ms;
      report(new NodeUnavailableError(message));
    }
    expect(lines).toEqual([
      ["unavailable", "refused"],
      ["unavailable", "timed out"],
      ["unavailable", "timed out"],
    ]);
  });

  it("is reported as disputed while its nodes contradict each other", () => {
    const { lines, report } = createReporter();
    report(new NodesDisagreeError("A and B disagree"));
    report(new NodesDisagreeError("A and B disagree"));
    expect(lines).toEqual([["disputed", "A and B disagree"]]);
  });

  it("is reported each time if the fault is not the node's", () => {
    const { lines, report } = createReporter();
    const defect = new Error("a defect");
    report(defect);
    report(defect);
    expect(lines).toEqual([
      ["failed", defect],
      ["failed", defect],
    ]);
  });
});
