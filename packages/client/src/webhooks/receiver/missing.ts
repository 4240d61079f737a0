import type { BursarEvent } from "../../resources/event-kinds.js";
import { type EventSource, endOf } from "./backfill.js";
import { findGaps, type SequenceRange } from "./gaps.js";
import type { ReceiverStore } from "./receiver-store.js";

interface Options {
  kinds: readonly BursarEvent["event"][] | undefined;
  gapsMax: number;
}

/**
 * The events of the handled kinds that are in the gaps between those that have arrived. A sequence counts all events of a tenant, and an
 * endpoint receives some kinds of them, so a gap says nothing by itself: the log has to say what is in it.
 */
export async function findMissing(
  { events }: EventSource,
  store: Pick<ReceiverStore<unknown>, "sequences" | "knownTo">,
  { kinds, gapsMax }: Options,
): Promise<SequenceRange[]> {
  const end = await endOf(events);
  if (end === undefined) return [];
  const { gaps } = await findGaps(store, end.epoch, gapsMax, await store.knownTo(end.epoch));
  const missing: SequenceRange[] = [];
  // Gaps that are close together are answered by one page.
  let page: Page = { to: 0, sequences: [] };
  for (const gap of gaps)
    for (let at = gap.from; at <= gap.to; at = page.to + 1) {
      if (at > page.to) page = await readPage(events, at, kinds);
      for (const sequence of page.sequences)
        if (sequence >= at && sequence <= gap.to) addTo(missing, sequence);
    }
  return missing;
}

interface Page {
  /** The last sequence that it has looked at. */
  to: number;
  sequences: number[];
}

async function readPage(events: EventSource["events"], from: number, kinds: Options["kinds"]): Promise<Page> {
  const query = { after: from - 1, ...(kinds === undefined ? {} : { kinds: [...kinds] }) };
  for await (const { data, scanned_to, has_more } of events.list(query).pages())
    return {
      to: has_more ? Math.max(from, scanned_to) : Number.MAX_SAFE_INTEGER,
      sequences: data.map(({ sequence }) => sequence),
    };
  return { to: Number.MAX_SAFE_INTEGER, sequences: [] };
}

function addTo(ranges: SequenceRange[], sequence: number): void {
  const last = ranges.at(-1);
  if (last?.to === sequence - 1) last.to = sequence;
  else ranges.push({ from: sequence, to: sequence });
}
