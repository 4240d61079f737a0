import { type Destination as DestinationBody, showId } from "@bursar/protocol";
import type { Destination } from "./destination.js";

/** A destination as it is seen at a time. */
export function presentDestination(destination: Destination, at: Date): DestinationBody {
  return {
    id: showId("dst", destination.id),
    object: "destination",
    label: destination.label,
    network: destination.network,
    address: destination.address,
    note: destination.note,
    state: destination.effectiveAt <= at ? "active" : "waiting",
    created_by: showId("cli", destination.clientId),
    created_at: destination.createdAt.toISOString(),
    effective_at: destination.effectiveAt.toISOString(),
  };
}
