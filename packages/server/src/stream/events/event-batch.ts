import type { Event, EventMessage } from "@bursar/protocol";
import { textFrames } from "../text-frames.js";

/** Events that follow each other without a gap, each serialized once for all its readers. */
export interface EventBatch {
  /** The sequences of the first and of the last event. */
  first: number;
  last: number;
  events: readonly BatchedEvent[];
  /** The frames of all events, one after the other. */
  all: Buffer;
}

interface BatchedEvent {
  kind: Event["event"];
  transactionId: string | undefined;
  frame: Buffer;
}

/** The events up to the first gap; undefined if there are none. */
export function makeBatch(listed: readonly Event[]): EventBatch | undefined {
  const first = listed[0]?.sequence;
  if (first === undefined) return undefined;
  const gap = listed.findIndex(({ sequence }, index) => sequence !== first + index);
  const events = gap === -1 ? listed : listed.slice(0, gap);
  const { all, each } = textFrames(
    events.map((event) => JSON.stringify({ type: "event", channel: "events", event } satisfies EventMessage)),
  );
  const batched = events.map(({ event, data }, index) => ({
    kind: event,
    transactionId: data.transaction?.id,
    frame: each[index] as Buffer,
  }));
  return { first, last: first + events.length - 1, events: batched, all };
}

/** Splits a batch that is too large for one write into pieces that are not. */
export function splitBatch(batch: EventBatch, bytesMax: number): EventBatch[] {
  if (batch.all.length <= bytesMax) return [batch];
  const pieces: EventBatch[] = [];
  let start = 0;
  let startByte = 0;
  let bytes = 0;
  const cut = (end: number) => {
    pieces.push({
      first: batch.first + start,
      last: batch.first + end - 1,
      events: batch.events.slice(start, end),
      all: batch.all.subarray(startByte, startByte + bytes),
    });
    startByte += bytes;
    start = end;
    bytes = 0;
  };
  batch.events.forEach(({ frame }, index) => {
    if (bytes > 0 && bytes + frame.length > bytesMax) cut(index);
    bytes += frame.length;
  });
  cut(batch.events.length);
  return pieces;
}
