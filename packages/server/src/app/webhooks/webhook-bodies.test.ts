import { type Event as EventBody, showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../events/event.js";
import type { DueDelivery } from "./sending.js";
import { createBodyMaker } from "./webhook-bodies.js";

const due = (tenantId: string, sequence: number): DueDelivery => ({
  tenantId,
  endpointId: "endpoint",
  id: `00000000-0000-7000-8000-${String(sequence).padStart(12, "0")}`,
  sequence: BigInt(sequence),
  attempts: 0,
  isFirst: true,
});

class Away extends Error {}

/** Presents all but the events of these sequences. */
function makerWithout(
  broken: readonly number[],
  { error = new Error("broken"), rememberedMax = 1000 }: { error?: Error; rememberedMax?: number } = {},
) {
  const told: number[] = [];
  const asked: number[][] = [];
  const make = createBodyMaker({
    events: {
      readEvents: async (_tenantId, sequences) =>
        sequences.map((sequence) => ({ sequence, subjectId: `subject-${sequence}` }) as LoggedEvent),
    },
    rememberedMax,
    present: async (_tenantId, events) => {
      const sequences = events.map(({ sequence }) => Number(sequence));
      asked.push(sequences);
      if (sequences.some((sequence) => broken.includes(sequence))) throw error;
      return sequences.map((sequence) => ({ event: "transaction.updated", sequence }) as EventBody);
    },
    isUnavailable: (one) => one instanceof Away,
    onUnpresentable: ({ sequence }) => told.push(Number(sequence)),
  });
  return { make, told, asked };
}

describe("the bodies of deliveries", () => {
  it("are missing where their event cannot be presented, and there alone", async () => {
    const { make, told } = makerWithout([2]);
    const all = [due("one", 1), due("one", 2), due("one", 3), due("another", 4)];
    const bodies = await make(all);
    expect(all.map(({ id }) => bodies.has(id))).toEqual([true, false, true, true]);
    expect(told).toEqual([2]);
  });

  it("are none where the database is away, which is no event's fault", async () => {
    const { make, told, asked } = makerWithout([2], { error: new Away() });
    await expect(make([due("one", 1), due("one", 2)])).rejects.toThrow(Away);
    expect([told, asked]).toEqual([[], [[1, 2]]]);
  });

  it("present an event once for all of its deliveries", async () => {
    const { make, asked } = makerWithout([]);
    const twice = [due("one", 1), { ...due("one", 1), id: "00000000-0000-7000-8000-0000000000ff" }];
    expect((await make(twice)).size).toBe(2);
    expect(asked).toEqual([[1]]);
  });

  it("say whom they are about, each under its own id", async () => {
    const { make } = makerWithout([]);
    const one = due("one", 7);
    const body = (await make([one])).get(one.id);
    expect(body?.subjectId).toBe("subject-7");
    expect(JSON.parse(body?.text ?? "")).toEqual({
      event: "transaction.updated",
      delivery_id: showId("dlv", one.id),
      sequence: 7,
    });
  });

  it("remember an event for the endpoints that come later, each tenant's by itself", async () => {
    const { make, asked } = makerWithout([]);
    const first = await make([due("one", 1)]);
    expect(await make([due("one", 1)])).toEqual(first);
    expect(asked).toEqual([[1]]);
    await make([due("another", 1)]);
    expect(asked).toEqual([[1], [1]]);
  });

  it("forget the oldest event where too much is remembered", async () => {
    const { make, asked } = makerWithout([], { rememberedMax: 40 });
    for (const sequence of [1, 2, 3, 3, 1]) await make([due("one", sequence)]);
    expect(asked).toEqual([[1], [2], [3], [1]]);
  });
});
