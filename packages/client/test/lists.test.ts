import { describe, expect, it } from "vitest";
import { json, scriptedService } from "./harness/scripted-service.js";

const page = (sequences: number[], scannedTo: number, hasMore: boolean) =>
  json(200, {
    data: sequences.map((sequence) => ({ sequence })),
    epoch: "epo_1",
    latest_sequence: 9,
    scanned_to: scannedTo,
    has_more: hasMore,
  });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe("lists", () => {
  it("of events go on after an empty page that is not the last", async () => {
    const { bursar, requests } = scriptedService([
      page([1], 3, true),
      page([], 6, true),
      page([8], 9, false),
    ]);
    const events = await collect(
      bursar.events.list({ kinds: ["wallet.updated", "order.updated"], limit: 3 }),
    );
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 8]);
    expect(requests.map(({ url }) => new URL(url).searchParams.get("after"))).toEqual([null, "3", "6"]);
    expect(new URL(requests[0]?.url ?? "").searchParams.getAll("kinds")).toEqual([
      "wallet.updated",
      "order.updated",
    ]);
  });

  it("of events go backwards from before", async () => {
    const { bursar, requests } = scriptedService([page([7, 6], 6, true), page([5], 5, false)]);
    const events = await collect(bursar.events.list({ before: 8 }));
    expect(events.map(({ sequence }) => sequence)).toEqual([7, 6, 5]);
    expect(requests.map(({ url }) => new URL(url).searchParams.get("before"))).toEqual(["8", "6"]);
  });

  it("with cursors read only the pages that are iterated", async () => {
    const of = (id: string, cursor: string | null) => json(200, { data: [{ id }], next_cursor: cursor });
    const { bursar, requests } = scriptedService([of("a", "c1"), of("b", "c2"), of("c", null)]);
    for await (const { id } of bursar.wallets.list({ limit: 1 })) if (id === "b") break;
    expect(requests.map(({ url }) => new URL(url).search)).toEqual(["?limit=1", "?limit=1&cursor=c1"]);
  });
});
