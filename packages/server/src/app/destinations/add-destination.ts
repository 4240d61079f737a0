import { type CreateDestinationBody, showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/act.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { hashRequest } from "../requests/request-hash.js";
import type { Destination, DestinationStore } from "./destination.js";
import { readAddress } from "./read-address.js";

export interface AddDestinationDeps {
  store: Pick<DestinationStore, "addDestination">;
  networks: ReadonlySet<string>;
  /** How long a new entry waits before it counts, so that a stolen credential cannot be used at once. */
  delaySeconds: number;
  newUuid: () => string;
  now: () => number;
}

export type AddDestination = (
  origin: ClientOrigin,
  body: CreateDestinationBody,
  idempotencyKey: string | undefined,
) => Promise<{ destination: Destination; replayed: boolean } | Refused>;

export function createDestinationAdder(deps: AddDestinationDeps): AddDestination {
  return async (origin, body, idempotencyKey) => {
    const where = readAddress(deps.networks, body, "body");
    if (isRefused(where)) return where;
    const nowMs = deps.now();
    const destination: Destination = {
      tenantId: origin.principal.tenantId,
      id: deps.newUuid(),
      label: body.label,
      ...where,
      note: body.note ?? null,
      clientId: origin.principal.clientId,
      createdAt: new Date(nowMs),
      effectiveAt: new Date(nowMs + deps.delaySeconds * 1000),
    };
    const hash = hashRequest(body);
    const result = await deps.store.addDestination(
      destination,
      idempotencyKey === undefined ? undefined : { key: idempotencyKey, hash },
      describeAct(origin, "destination.create", showId("dst", destination.id), destination.createdAt),
    );
    if (result === "taken") return { refused: "DESTINATION_EXISTS" };
    if ("added" in result) return { destination: result.added, replayed: false };
    if (result.requestHash !== hash) return { refused: "IDEMPOTENCY_KEY_REUSED" };
    return { destination: result.earlier, replayed: true };
  };
}
