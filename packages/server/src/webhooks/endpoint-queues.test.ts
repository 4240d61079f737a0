import { beforeEach, describe, expect, it } from "vitest";
import { createEndpointQueues, type EndpointQueues, lookAgainAfterMs } from "./endpoint-queues.js";

describe("looking for endpoints that no process sends to", () => {
  let monotonicMs: number;
  let looks: (readonly string[] | "any")[];
  let queues: EndpointQueues;
  beforeEach(() => {
    monotonicMs = 0;
    looks = [];
    queues = createEndpointQueues({
      store: {
        leases: {
          acquire: async ({ tenantIds }) => {
            looks.push(tenantIds);
            return [];
          },
          renew: async () => [],
          release: async () => undefined,
        },
      },
      holder: "holder",
      concurrency: 4,
      now: () => monotonicMs,
      monotonicMs: () => monotonicMs,
    });
  });

  it("happens at once for a tenant that was not looked at lately, whatever others do", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["another"]);
    expect(looks).toEqual([["one"], ["another"]]);
    expect(queues.hasPostponed()).toBe(false);
  });

  it("is postponed for a tenant that was looked at a moment ago, and not forgotten", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["one"]);
    expect(looks).toEqual([["one"]]);
    expect(queues.hasPostponed()).toBe(true);
    monotonicMs += lookAgainAfterMs;
    await queues.acquire([]);
    expect(looks).toEqual([["one"], ["one"]]);
    expect(queues.hasPostponed()).toBe(false);
  });

  it("is done for all postponed tenants by a look at every tenant", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["one"]);
    await queues.acquire("any");
    expect(looks).toEqual([["one"], "any"]);
    expect(queues.hasPostponed()).toBe(false);
  });
});
