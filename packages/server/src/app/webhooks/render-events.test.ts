import { type Event as EventBody, showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../events/event.js";
import { bodyOf, createEventRenderer } from "./render-events.js";
import type { DueDelivery } from "./sending.js";

const due = (tenantId: string, sequence: number): DueDelivery => ({
  tenantId,
  endpointId: "endpoint",
  id: `00000000-0000-7000-8000-${String(sequence).padStart(12, "0")}`,
  sequence,
  attempts: 0,
  isFirst: true,
});

class UnavailableError extends Error {}

/** Presents all but the events of these sequences. */
function rendererWithout(
  broken: readonly number[],
  { error = new Error("broken"), charactersMax = 1000 }: { error?: Error; charactersMax?: number } = {},
) {
  const asked: number[][] = [];
  const { renderEvents: render } = createEventRenderer({
    events: {
      readEvents: async (_tenantId, sequences) =>
        sequences.map((sequence) => ({ sequence, subjectId: `subject-${sequence}` }) as LoggedEvent),
    },
    charactersMax,
    present: async (_tenantId, events) => {
      const sequences = events.map(({ sequence }) => sequence);
      asked.push(sequences);
      if (sequences.some((sequence) => broken.includes(sequence))) throw error;
      return sequences.map((sequence) => ({ event: "transaction.updated", sequence }) as EventBody);
    },
    isUnavailable: (one) => one instanceof UnavailableError,
  });
  return { render, asked };
}

describe("rendering events", () => {
  it("fails for an event that cannot be presented, and for that one alone", async () => {
    const { render } = rendererWithout([2]);
    const all = [due("one", 1), due("one", 2), due("one", 3), due("another", 4)];
    const rendered = await render(all);
    expect(rendered.map((event) => (event instanceof Error ? event.message : event.subjectId))).toEqual([
      "subject-1",
      "broken",
      "subject-3",
      "subject-4",
    ]);
  });

  it("blames no event if the database is unavailable", async () => {
    const { render, asked } = rendererWithout([2], { error: new UnavailableError() });
    await expect(render([due("one", 1), due("one", 2)])).rejects.toThrow(UnavailableError);
    expect(asked).toEqual([[1, 2]]);
  });

  it("reads the events of a few tenants at once", async () => {
    let atOnce = 0;
    let most = 0;
    const { renderEvents } = createEventRenderer({
      events: {
        readEvents: async (_tenantId, sequences) => {
          atOnce += 1;
          most = Math.max(most, atOnce);
          await new Promise((resolve) => setImmediate(resolve));
          atOnce -= 1;
          return sequences.map((sequence) => ({ sequence, subjectId: "s" }) as LoggedEvent);
        },
      },
      present: async (_tenantId, events) =>
        events.map(({ sequence }) => ({ event: "transaction.updated", sequence }) as EventBody),
      isUnavailable: () => false,
    });
    const rendered = await renderEvents(Array.from({ length: 300 }, (_, number) => due(`t${number}`, 1)));
    expect(rendered.filter((event) => event instanceof Error)).toEqual([]);
    expect(most).toBe(4);
  });

  it("presents an event once for all of its deliveries", async () => {
    const { render, asked } = rendererWithout([]);
    const twice = [due("one", 1), { ...due("one", 1), id: "00000000-0000-7000-8000-0000000000ff" }];
    const [first, second] = await render(twice);
    expect(first).toBe(second);
    expect(asked).toEqual([[1]]);
  });

  it("names the subject, and puts each delivery's own id into its body", async () => {
    const { render } = rendererWithout([]);
    const one = due("one", 7);
    const [event] = await render([one]);
    if (event === undefined || event instanceof Error) throw new Error("the event was not rendered");
    expect(event.subjectId).toBe("subject-7");
    expect(JSON.parse(bodyOf(event, one.id))).toEqual({
      event: "transaction.updated",
      delivery_id: showId("dlv", one.id),
      sequence: 7,
    });
  });

  it("caches an event for endpoints that need it later, for each tenant apart", async () => {
    const { render, asked } = rendererWithout([]);
    const first = await render([due("one", 1)]);
    expect(await render([due("one", 1)])).toEqual(first);
    expect(asked).toEqual([[1]]);
    await render([due("another", 1)]);
    expect(asked).toEqual([[1], [1]]);
  });

  it("drops the events that were used longest ago if too much is cached", async () => {
    const { render, asked } = rendererWithout([], { charactersMax: 130 });
    for (const sequence of [1, 2, 3, 3, 1]) await render([due("one", sequence)]);
    expect(asked).toEqual([[1], [2], [3], [1]]);
  });
});
