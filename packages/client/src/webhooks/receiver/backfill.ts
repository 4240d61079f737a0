import type { BursarEvent } from "../../resources/event-kinds.js";
import { deliveryOf } from "./delivery.js";
import { findGaps } from "./gaps.js";
import type { ReceiverStore } from "./receiver-store.js";

/** The part of a client that reads the log. */
export interface EventSource {
  events: {
    list: (query: { after?: number }) => {
      pages: () => AsyncIterable<{ epoch: string; data: BursarEvent[] }>;
    };
  };
}

interface BackfillOptions {
  kinds: readonly string[] | undefined;
  now: () => number;
  gapsMax: number;
  since: number | undefined;
}

/** Stores what the log has in the gaps and after the last known sequence. Returns the ids of what is to be processed, in order. */
export async function backfillFrom<Context>(
  { events }: EventSource,
  store: ReceiverStore<Context>,
  { kinds, now, gapsMax, since }: BackfillOptions,
): Promise<string[]> {
  const saved: string[] = [];
  const epoch = await epochOf(events);
  if (epoch === undefined) return saved;
  const { gaps, last } = await findGaps(store, epoch, gapsMax, since);
  for (const { from, to } of [...gaps, { from: (last ?? 0) + 1, to: Number.MAX_SAFE_INTEGER }])
    for await (const page of events.list({ after: from - 1 }).pages()) {
      for (const event of page.data) {
        if (event.sequence > to) break;
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

async function epochOf(events: EventSource["events"]): Promise<string | undefined> {
  for await (const { epoch } of events.list({}).pages()) return epoch;
  return undefined;
}
