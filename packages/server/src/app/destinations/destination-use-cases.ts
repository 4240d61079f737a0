import type { Destination as DestinationBody } from "@bursar/protocol";
import type { Refused } from "../requests/refused.js";
import type { AddDestination } from "./add-destination.js";
import type { Destination, DestinationFilter } from "./destination.js";
import type { RemoveDestination } from "./remove-destination.js";

/** What can be asked about the list of allowed addresses. */
export interface DestinationUseCases {
  addDestination: AddDestination;
  readDestination: (tenantId: string, id: string) => Promise<Destination | Refused>;
  listDestinations: (
    tenantId: string,
    filter: DestinationFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Destination[]>;
  removeDestination: RemoveDestination;
  /** As it is seen now, or at another time. */
  presentDestination: (destination: Destination, at?: Date) => DestinationBody;
}
