import { describe, expect, it } from "vitest";
import { createHistogram, createLabelledCounter } from "./metric.js";

describe("a counter with labels", () => {
  it("counts each set of values", () => {
    const counter = createLabelledCounter(["kind", "state"]);
    counter.add(["transfer", "completed"]);
    counter.add(["transfer", "completed"], 2);
    counter.add(["payout", "failed"]);
    expect(counter.samples()).toEqual([
      { labels: { kind: "transfer", state: "completed" }, value: 3 },
      { labels: { kind: "payout", state: "failed" }, value: 1 },
    ]);
  });
});

describe("a histogram", () => {
  it("puts a value into the first bucket that is not below it", () => {
    const histogram = createHistogram(["outcome"], [0.1, 1]);
    for (const value of [0.1, 0.11, 1, 7]) histogram.observe(["delivered"], value);
    const [reading] = histogram.read();
    expect(reading).toMatchObject({ labels: { outcome: "delivered" }, counts: [1, 2, 1] });
    expect(reading?.sum).toBeCloseTo(8.21);
  });

  it("has no series without labels before the first value", () => {
    expect(createHistogram([], [1]).read()).toEqual([]);
  });
});
