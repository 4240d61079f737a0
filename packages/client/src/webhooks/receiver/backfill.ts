import type { BursarEvent } from "../../resources/event-kinds.js";
import type { EventPage } from "../../resources/events.js";
import { deliveryOf } from "./delivery.js";
import { findGaps } from "./gaps.js";
import type { ReceiverStore } from "./receiver-store.js";

/** The part of a client that reads the log. */
export interface EventSource {
  events: {
    list: (query: { after?: number; limit?: number; kinds?: BursarEvent["event"][] }) => {
      pages: () => AsyncIterable<EventPage>;
    };
  };
}

interface BackfillOptions {
  kinds: readonly string[] | undefined;
  now: () => number;
  gapsMax: number;
  since: number | undefined;
  /** What happened earlier may have been processed and forgotten. */
  rememberedSinceMs: number;
}

/** Stores what the log has in the gaps and after the last known sequence. Returns the ids of what is to be processed, in order. */
export async function backfillFrom<Context>(
  { events }: EventSource,
  store: ReceiverStore<Context>,
  { kinds, now, gapsMax, since, rememberedSinceMs }: BackfillOptions,
): Promise<string[]> {
  const saved: string[] = [];
  const end = await endOf(events);
  if (end === undefined) return saved;
  const { gaps, last } = await findGaps(store, end.epoch, gapsMax, since ?? (await store.knownTo(end.epoch)));
  // A new epoch repeats what the store knows from the one before, and what it has forgotten.
  const isNewEpoch = last === undefined && (await store.latestEpoch()) !== undefined;
  const isForgotten = ({ occurred_at }: BursarEvent) =>
    isNewEpoch && Date.parse(occurred_at) < rememberedSinceMs;
  for (const { from, to } of [...gaps, { from: (last ?? 0) + 1, to: Number.MAX_SAFE_INTEGER }])
    for await (const page of events.list({ after: from - 1 }).pages()) {
      for (const event of page.data) {
        if (event.sequence > to) break;
        if (isForgotten(event)) continue;
        const delivery = deliveryOf(
          { ...event, delivery_id: `log:${page.epoch}:${event.sequence}` },
          page.epoch,
        );
        const isWanted = kinds === undefined || kinds.includes(event.event);
        const result = await store.save(delivery, isWanted ? "pending" : "skipped", now());
        if (result === "saved" && isWanted) saved.push(delivery.id);
      }
      if ((page.data.at(-1)?.sequence ?? to) >= to) break;
    }
  return saved;
}

/** Makes an empty store know all that the log has now; false if it is not empty. */
export async function skipHistoryOf<Context>(
  { events }: EventSource,
  store: ReceiverStore<Context>,
): Promise<boolean> {
  const end = await endOf(events);
  if (end === undefined || (await store.latestEpoch()) !== undefined) return false;
  await store.raiseKnownTo(end.epoch, end.sequence);
  return true;
}

/** The last event of the log, and its epoch. */
export async function endOf(
  events: EventSource["events"],
): Promise<{ epoch: string; sequence: number } | undefined> {
  for await (const { epoch, latest_sequence: sequence } of events.list({ limit: 1 }).pages())
    return { epoch, sequence };
  return undefined;
}
