import { type Event as EventBody, showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../events/event.js";
import { bodyOf, createTextReader } from "./event-texts.js";
import type { DueDelivery } from "./sending.js";

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
function readerWithout(
  broken: readonly number[],
  { error = new Error("broken"), rememberedMax = 1000 }: { error?: Error; rememberedMax?: number } = {},
) {
  const told: number[] = [];
  const asked: number[][] = [];
  const read = createTextReader({
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
  return { read, told, asked };
}

describe("the texts of events", () => {
  it("are missing where their event cannot be presented, and there alone", async () => {
    const { read, told } = readerWithout([2]);
    const all = [due("one", 1), due("one", 2), due("one", 3), due("another", 4)];
    const subjects = (await read(all)).map((text) => text?.subjectId);
    expect(subjects).toEqual(["subject-1", undefined, "subject-3", "subject-4"]);
    expect(told).toEqual([2]);
  });

  it("are none where the database is away, which is no event's fault", async () => {
    const { read, told, asked } = readerWithout([2], { error: new Away() });
    await expect(read([due("one", 1), due("one", 2)])).rejects.toThrow(Away);
    expect([told, asked]).toEqual([[], [[1, 2]]]);
  });

  it("present an event once for all of its deliveries", async () => {
    const { read, asked } = readerWithout([]);
    const twice = [due("one", 1), { ...due("one", 1), id: "00000000-0000-7000-8000-0000000000ff" }];
    const [first, second] = await read(twice);
    expect(first).toBe(second);
    expect(asked).toEqual([[1]]);
  });

  it("say whom they are about, each under its own id", async () => {
    const { read } = readerWithout([]);
    const one = due("one", 7);
    const [text] = await read([one]);
    expect(text?.subjectId).toBe("subject-7");
    expect(text && JSON.parse(bodyOf(text, one.id))).toEqual({
      event: "transaction.updated",
      delivery_id: showId("dlv", one.id),
      sequence: 7,
    });
  });

  it("remember an event for the endpoints that come later, each tenant's by itself", async () => {
    const { read, asked } = readerWithout([]);
    const first = await read([due("one", 1)]);
    expect(await read([due("one", 1)])).toEqual(first);
    expect(asked).toEqual([[1]]);
    await read([due("another", 1)]);
    expect(asked).toEqual([[1], [1]]);
  });

  it("forget the oldest event where too much is remembered", async () => {
    const { read, asked } = readerWithout([], { rememberedMax: 40 });
    for (const sequence of [1, 2, 3, 3, 1]) await read([due("one", sequence)]);
    expect(asked).toEqual([[1], [2], [3], [1]]);
  });
});
