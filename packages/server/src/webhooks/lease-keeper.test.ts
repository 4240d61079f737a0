import { beforeEach, describe, expect, it } from "vitest";
import { createLeaseKeeper, type LeaseKeeper, lookAgainAfterMs } from "./lease-keeper.js";

describe("looking for endpoints that nobody sends to", () => {
  let monotonicMs: number;
  let looks: (readonly string[] | "any")[];
  let keeper: LeaseKeeper;
  beforeEach(() => {
    monotonicMs = 0;
    looks = [];
    keeper = createLeaseKeeper({
      store: {
        leaseEndpoints: async ({ tenantIds }) => {
          looks.push(tenantIds);
          return [];
        },
        renewLeases: async () => [],
        releaseLeases: async () => undefined,
      },
      holder: "holder",
      concurrency: 4,
      now: () => monotonicMs,
      monotonicMs: () => monotonicMs,
    });
  });

  it("comes at once for a tenant that was not looked at lately, whatever others do", async () => {
    await keeper.take(["one"]);
    await keeper.take(["another"]);
    expect(looks).toEqual([["one"], ["another"]]);
    expect(keeper.hasPostponed()).toBe(false);
  });

  it("is put off for a tenant that was looked at a moment ago, and not forgotten", async () => {
    await keeper.take(["one"]);
    await keeper.take(["one"]);
    expect(looks).toEqual([["one"]]);
    expect(keeper.hasPostponed()).toBe(true);
    monotonicMs += lookAgainAfterMs;
    await keeper.take([]);
    expect(looks).toEqual([["one"], ["one"]]);
    expect(keeper.hasPostponed()).toBe(false);
  });

  it("is done for all who were put off by a look at everybody", async () => {
    await keeper.take(["one"]);
    await keeper.take(["one"]);
    await keeper.take("any");
    expect(looks).toEqual([["one"], "any"]);
    expect(keeper.hasPostponed()).toBe(false);
  });
});
