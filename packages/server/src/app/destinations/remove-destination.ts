import { showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/act.js";
import type { Refused } from "../requests/refused.js";
import type { DestinationStore } from "./destination.js";

export type RemoveDestination = (origin: ClientOrigin, id: string) => Promise<Refused | undefined>;

/** Takes an address off the list, at once: only to be listed has a waiting time. */
export function createDestinationRemover(
  store: Pick<DestinationStore, "removeDestination">,
  now: () => number,
): RemoveDestination {
  return async (origin, id) => {
    const audit = describeAct(origin, "destination.remove", showId("dst", id), new Date(now()));
    const removed = await store.removeDestination(origin.principal.tenantId, id, audit);
    return removed ? undefined : { refused: "DESTINATION_NOT_FOUND" };
  };
}
