import { expect, it } from "vitest";
import type { ListEvents } from "../../app/events/present-events.js";
import { createHistory, createHistoryReads } from "./history.js";

const pageSize = 200;
const streamCount = 1000;

it("a tenant that resumes waits for one page of another, whose thousand streams all begin at different places", async () => {
  const read: string[] = [];
  const ends: (() => void)[] = [];
  const listEvents: ListEvents = async (tenantId) => {
    read.push(tenantId);
    await new Promise<void>((resolve) => ends.push(resolve));
    return [];
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const history = createHistory(listEvents, createHistoryReads());
  const flood = Array.from({ length: streamCount }, (_, number) =>
    history.pageAfter("flood", number * pageSize),
  );
  await settle();
  // What one tenant reads at once leaves a reader to the others.
  expect(read).toEqual(["flood", "flood"]);
  const resumed = history.pageAfter("other", 0);
  const another = history.pageAfter("another", 0);
  await settle();
  expect(read).toEqual(["flood", "flood", "other"]);
  ends[0]?.();
  await settle();
  expect(read.slice(3)).toHaveLength(1);
  for (let next = 1; next < ends.length; next++) {
    ends[next]?.();
    await settle();
  }
  expect(await resumed).toBeUndefined();
  expect(await another).toBeUndefined();
  expect(read.indexOf("another")).toBeLessThanOrEqual(4);
  expect((await Promise.all(flood)).length).toBe(streamCount);
});
