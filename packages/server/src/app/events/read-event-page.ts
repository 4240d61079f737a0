import type { Event } from "@bursar/protocol";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import type { Refused } from "../requests/refused.js";
import type { EpochNames } from "./epoch.js";
import type { EventPositions, EventQuery, EventSearch, LostRange } from "./event.js";
import type { ListEvents, PresentEvents } from "./present-events.js";

/** A page of the log, and the epoch that gives its sequences a meaning. */
interface EventPage {
  data: Event[];
  epoch: string;
  latest_sequence: number;
  scanned_to: number;
  has_more: boolean;
}

export type ReadEventPage = (tenantId: string, query: EventQuery) => Promise<EventPage | Refused>;

export interface ReadEventPageDeps {
  listEvents: ListEvents;
  findEvents: EventSearch["findEvents"];
  presentEvents: PresentEvents;
  positions: Pick<EventPositions, "readHeads" | "findLost">;
  identity: Pick<DatabaseIdentity, "generation">;
  epochs: Pick<EpochNames, "current">;
}

export function createEventPageReader(deps: ReadEventPageDeps): ReadEventPage {
  return async (tenantId, query) => {
    const generation = deps.identity.generation();
    // Before the events: what is in the log up to here has been looked at.
    const head = await readHead(tenantId, deps);
    const found = await find(tenantId, query, deps);
    const { after } = query;
    // Only a sequence with nothing right after it can be one that the log does not have.
    const isKnown = found.data[0]?.sequence === after + 1 || found.data.at(-1)?.sequence === after + 1;
    const refused = isKnown ? undefined : await findFault(tenantId, after, deps);
    if (refused !== undefined) return refused;
    const epoch = deps.epochs.current();
    // Events of one database under the name of another would be worse than none.
    if (epoch === undefined || deps.identity.generation() !== generation) return { refused: "UNAVAILABLE" };
    return { data: found.data, epoch, ...positionOf(query, found, head) };
  };
}

interface Found {
  data: Event[];
  scannedTo: number | undefined;
}

/** A page without a filter is read like those of the stream. */
async function find(tenantId: string, query: EventQuery, deps: ReadEventPageDeps): Promise<Found> {
  const { after, before, isNewestFirst, kinds, subjectId, limit } = query;
  if (before === undefined && !isNewestFirst && kinds === undefined && subjectId === undefined)
    return { data: await deps.listEvents(tenantId, after, limit), scannedTo: undefined };
  const { events, scannedTo } = await deps.findEvents(tenantId, query);
  return { data: await deps.presentEvents(tenantId, events), scannedTo };
}

/** Where the page ends, and whether the log goes on there. */
function positionOf(query: EventQuery, { data, scannedTo }: Found, head: number) {
  const { after, before = Number.MAX_SAFE_INTEGER, isNewestFirst, limit } = query;
  const latest = Math.max(head, ...data.map(({ sequence }) => sequence));
  const stoppedAt = data.length === limit ? data.at(-1)?.sequence : scannedTo;
  const last = Math.min(latest, before - 1);
  const scanned = stoppedAt ?? (isNewestFirst ? after : Math.max(after, last));
  return {
    latest_sequence: latest,
    scanned_to: scanned,
    has_more: isNewestFirst ? stoppedAt !== undefined && scanned > after + 1 : scanned < last,
  };
}

async function findFault(
  tenantId: string,
  after: number,
  deps: ReadEventPageDeps,
): Promise<Refused | undefined> {
  if (after === 0) return undefined;
  const [head, lost] = await Promise.all([
    readHead(tenantId, deps),
    deps.positions.findLost(tenantId, after),
  ]);
  if (lost !== undefined) return refuseLost(lost);
  return after > head ? refuseAhead(head) : undefined;
}

async function readHead(tenantId: string, { positions }: ReadEventPageDeps): Promise<number> {
  return (await positions.readHeads([tenantId])).get(tenantId) ?? 0;
}

export function refuseAhead(head: number): Refused {
  return { refused: "SEQUENCE_AHEAD", message: `The last sequence of the log is ${head}.` };
}

export function refuseLost({ kept, lifted }: LostRange): Refused {
  return {
    refused: "SEQUENCE_AHEAD",
    message: `The sequences from ${kept + 1} to ${lifted} were lost when the database was restored. The last one before them is ${kept}.`,
  };
}
