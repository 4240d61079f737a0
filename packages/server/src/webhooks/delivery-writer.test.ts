import { expect, it } from "vitest";
import { createDeliveryWriter } from "./delivery-writer.js";

it("writes less at a time after an error, and goes on with other tenants if a single event fails", async () => {
  const asked: [string, number][] = [];
  let served: () => void = () => undefined;
  const isServed = new Promise<void>((resolve) => {
    served = resolve;
  });
  const tenants = ["a", "b"];
  const writer = createDeliveryWriter({
    store: {
      findBacklog: async (after) => tenants.find((id) => after === undefined || id > after),
      writeSome: async (tenantId, deliveriesMax) => {
        asked.push([tenantId, deliveriesMax]);
        if (tenantId === "a") throw new Error("canceling statement due to statement timeout");
        served();
        return { tenantIds: [tenantId], lastTenantId: tenantId };
      },
    },
    onWritten: () => undefined,
    restPerWork: () => 0,
    onError: () => undefined,
    monotonicMs: () => 0,
    timers: {
      after: (_, run) => {
        const timer = setImmediate(run);
        return () => clearImmediate(timer);
      },
    },
  });
  writer.start();
  await isServed;
  await writer.stop();
  const sizes = asked.filter(([tenantId]) => tenantId === "a").map(([, size]) => size);
  expect(sizes.slice(0, 3)).toEqual([1000, 500, 250]);
  expect(sizes.at(-1)).toBe(1);
  expect(asked.at(sizes.length)).toEqual(["b", 1]);
});
