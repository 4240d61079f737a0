import type { Event } from "@bursar/protocol";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";
import type { Refused } from "../requests/refused.js";
import type { EpochNames } from "./epoch.js";
import type { EventPositions, LostRange } from "./event.js";
import type { ListEvents } from "./present-events.js";

/** Reads a page of the log after a sequence, with the epoch that it belongs to. */
export type ReadEventPage = (
  tenantId: string,
  after: number,
  limit: number,
) => Promise<{ data: Event[]; epoch: string } | Refused>;

export interface ReadEventPageDeps {
  listEvents: ListEvents;
  positions: Pick<EventPositions, "readHeads" | "findLost">;
  identity: Pick<DatabaseIdentity, "generation">;
  epochs: Pick<EpochNames, "current">;
}

export function createEventPageReader(deps: ReadEventPageDeps): ReadEventPage {
  return async (tenantId, after, limit) => {
    const generation = deps.identity.generation();
    const data = await deps.listEvents(tenantId, after, limit);
    // Only a sequence with nothing right after it can be one that the log does not have.
    const refused = data[0]?.sequence === after + 1 ? undefined : await findFault(tenantId, after, deps);
    if (refused !== undefined) return refused;
    const epoch = deps.epochs.current();
    // Events of one database under the name of another would be worse than none.
    if (epoch === undefined || deps.identity.generation() !== generation) return { refused: "UNAVAILABLE" };
    return { data, epoch };
  };
}

async function findFault(
  tenantId: string,
  after: number,
  { positions }: ReadEventPageDeps,
): Promise<Refused | undefined> {
  if (after === 0) return undefined;
  const [heads, lost] = await Promise.all([
    positions.readHeads([tenantId]),
    positions.findLost(tenantId, after),
  ]);
  if (lost !== undefined) return refuseLost(lost);
  const head = heads.get(tenantId) ?? 0;
  return after > head ? refuseAhead(head) : undefined;
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
