import {
  type CreateChangeRequestBody,
  type CreateDestinationBody,
  type Destination as DestinationBody,
  showId,
} from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { ChangeRequest } from "../change-requests/change-request.js";
import type { ChangeRequestService } from "../change-requests/change-request-service.js";
import { describeReviewedAct } from "../clients/review-caller.js";
import type { PolicyChangePlanner } from "../policy/plan-policy-change.js";
import type { Rails } from "../rails/rail.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import type { Listed } from "../requests/listed.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type Destination,
  type DestinationFilter,
  type DestinationStore,
  readAddress,
  withCanonicalAddress,
} from "./destination.js";

/** Manages a tenant's allow-list of addresses. */
export interface DestinationService {
  addDestination: (
    origin: ClientOrigin,
    body: CreateDestinationBody,
    idempotencyKey: string | undefined,
  ) => Promise<{ destination: Destination; replayed: boolean } | RequestedChange | Refused>;
  readDestination: (tenantId: string, id: string) => Promise<Destination | Refused>;
  listDestinations: (
    tenantId: string,
    filter: DestinationFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<Destination>>;
  /** Removes an address at once: only adding one has a delay. */
  removeDestination: (origin: ClientOrigin, id: string) => Promise<RequestedChange | Refused | undefined>;
  /** Presents a destination in its state at a time, by default now. */
  presentDestination: (destination: Destination, at?: Date) => DestinationBody;
}

/** If the policy names who approves changes of destinations, a change becomes a change request. */
interface RequestedChange {
  changeRequest: ChangeRequest;
  replayed: boolean;
}

export interface DestinationServiceDeps {
  store: DestinationStore;
  planner: Pick<PolicyChangePlanner, "destinationTerms">;
  requestChange: ChangeRequestService["requestChange"];
  rails: Pick<Rails, "find">;
  newUuid: () => string;
  now: () => number;
}

export function createDestinationService(deps: DestinationServiceDeps): DestinationService {
  const { store, now } = deps;
  return {
    addDestination: async (origin, body, idempotencyKey) => {
      const { changes, waitSeconds } = await deps.planner.destinationTerms(origin.principal.tenantId);
      if (changes === null) return await addDestination(deps, origin, body, waitSeconds, idempotencyKey);
      return await requested(deps, origin, { kind: "destination.create", change: body }, idempotencyKey);
    },
    readDestination: async (tenantId, id) =>
      (await store.readDestination(tenantId, id)) ?? { refused: "DESTINATION_NOT_FOUND" },
    listDestinations: (tenantId, filter, limit, beforeId) =>
      store.listDestinations(tenantId, withCanonicalAddress(filter), new Date(now()), limit, beforeId),
    removeDestination: async (origin, id) => {
      const { tenantId } = origin.principal;
      if ((await deps.planner.destinationTerms(tenantId)).changes !== null) {
        if ((await store.readDestination(tenantId, id)) === undefined)
          return { refused: "DESTINATION_NOT_FOUND" };
        const change = { destination_id: showId("dst", id) };
        return await requested(deps, origin, { kind: "destination.remove", change }, undefined);
      }
      const audit = describeReviewedAct(origin, "destination.remove", showId("dst", id), new Date(now()));
      const removed = await store.removeDestination(tenantId, id, audit);
      return removed ? undefined : { refused: "DESTINATION_NOT_FOUND" };
    },
    presentDestination: (destination, at = new Date(now())) => presentDestination(destination, at),
  };
}

async function requested(
  { requestChange }: DestinationServiceDeps,
  origin: ClientOrigin,
  body: CreateChangeRequestBody,
  idempotencyKey: string | undefined,
): Promise<RequestedChange | Refused> {
  const made = await requestChange(origin, body, idempotencyKey);
  return isRefused(made) ? made : { changeRequest: made.request, replayed: made.replayed };
}

async function addDestination(
  { store, rails, newUuid, now }: DestinationServiceDeps,
  origin: ClientOrigin,
  body: CreateDestinationBody,
  /** So that a stolen credential cannot be used at once. */
  waitSeconds: number,
  idempotencyKey: string | undefined,
): Promise<{ destination: Destination; replayed: boolean } | Refused> {
  const networkAddress = readAddress(rails, body, "body");
  if (isRefused(networkAddress)) return networkAddress;
  const nowMs = now();
  const destination: Destination = {
    tenantId: origin.principal.tenantId,
    id: newUuid(),
    label: body.label,
    ...networkAddress,
    note: body.note ?? null,
    clientId: origin.principal.clientId,
    createdAt: new Date(nowMs),
    effectiveAt: new Date(nowMs + waitSeconds * 1000),
  };
  const request = idempotentRequest(idempotencyKey, body);
  const result = await store.addDestination(
    destination,
    request,
    describeReviewedAct(origin, "destination.create", showId("dst", destination.id), destination.createdAt),
  );
  if (result === "taken") return { refused: "DESTINATION_EXISTS" };
  if ("added" in result) return { destination: result.added, replayed: false };
  const { earlier, requestHash } = result;
  return replay(requestHash, request?.hash, () => ({ destination: earlier, replayed: true }));
}

function presentDestination(destination: Destination, at: Date): DestinationBody {
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
