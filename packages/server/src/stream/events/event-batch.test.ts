import type { Event } from "@bursar/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeBatch, splitBatch } from "./event-batch.js";

const event = (sequence: number, padding = 0): Event => ({
  event: "wallet.updated",
  sequence,
  occurred_at: "2026-01-01T00:00:00.000Z",
  actor: { type: "service", client_id: null },
  data: { previous_state: "x".repeat(padding) },
});

describe("a batch of events", () => {
  it("ends at the first gap", () => {
    expect(makeBatch([])).toBeUndefined();
    expect(makeBatch([event(3), event(4), event(6)])).toMatchObject({ first: 3, last: 4 });
  });

  it("is the same in pieces, none larger than asked for unless it is one event", () => {
    const sizes = fc.array(fc.nat(400), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 100, max: 2000 }), (paddings, bytesMax) => {
        const batch = makeBatch(paddings.map((padding, index) => event(index + 7, padding)));
        if (batch === undefined) throw new Error("there are events");
        const pieces = splitBatch(batch, bytesMax);
        expect(Buffer.concat(pieces.map(({ all }) => all)).equals(batch.all)).toBe(true);
        let next = batch.first;
        for (const { first, last, events, all } of pieces) {
          expect([first, last - first + 1]).toEqual([next, events.length]);
          expect(Buffer.concat(events.map(({ frame }) => frame)).equals(all)).toBe(true);
          if (events.length > 1) expect(all.length).toBeLessThanOrEqual(bytesMax);
          next = last + 1;
        }
        expect(next).toBe(batch.last + 1);
      }),
    );
  });
});
