import { showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { describeEpoch } from "./recover.js";

const [recovered, later] = ["018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002"];

describe("what `bursar recover` says of the epoch", () => {
  it("is that the database is in the one that it has begun", () => {
    expect(describeEpoch({ id: recovered, isRepeated: false }, recovered)).toEqual([
      `The database is in a new epoch: ${showId("epo", recovered)}`,
    ]);
  });

  it("is both, if another one is current by now", () => {
    expect(describeEpoch({ id: recovered, isRepeated: false }, later)).toEqual([
      `The recovery has begun the epoch ${showId("epo", recovered)}`,
      `The database is in a later epoch by now: ${showId("epo", later)}`,
    ]);
  });
});
