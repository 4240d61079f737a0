import { type ApprovalRecords, type CreateChangeRequestBody, showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import type { CredentialProof } from "../clients/prove-credential.js";
import { callerReviewOf, describeActOn } from "../clients/review-caller.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  advance,
  type ChangeRequestDeps,
  executorOf,
  isClosed,
  lockAuthentic,
  notFound,
  type OnRead,
  prepareChange,
  withNext,
} from "./advance-change.js";
import { createDueApplier } from "./apply-due.js";
import { type ChangeRequest, type ChangeRequestStore, isOpen, type OpenChanges } from "./change-request.js";
import { decideChange, type GivenDecision, listDecisions } from "./decide-change.js";

/** Requests for changes that another client must approve, and their way to `applied`. */
export interface ChangeRequestService {
  requestChange: (
    origin: ClientOrigin,
    body: CreateChangeRequestBody,
    idempotencyKey: string | undefined,
    /** The key that has signed the request. */
    signedBy?: CredentialProof["signedBy"],
  ) => Promise<{ request: ChangeRequest; replayed: boolean } | Refused>;
  readChangeRequest: (tenantId: string, id: string) => Promise<ChangeRequest | Refused>;
  listChangeRequests: ChangeRequestStore["list"];
  decideChange: (
    origin: ClientOrigin,
    id: string,
    given: GivenDecision,
    onRead: OnRead,
  ) => Promise<ChangeRequest | Refused>;
  /** The decisions on a request, with what is needed to verify them without trusting the service. */
  listChangeDecisions: (tenantId: string, id: string) => Promise<ApprovalRecords | Refused>;
  /** Only for the client that requested it. */
  cancelChange: (origin: ClientOrigin, id: string, onRead: OnRead) => Promise<ChangeRequest | Refused>;
}

const expiresAfterSecondsDefault = 72 * 3600;
const openMax = 100;
/** A client that fills the list of a tenant would keep others from requesting that it be disabled. */
const openOfClientMax = 10;
const openOfLineageMax = 20;

export function createChangeRequestService(
  deps: ChangeRequestDeps,
): ChangeRequestService & { applyDue: () => Promise<number> } {
  const { store } = deps;
  return {
    requestChange: (...given) => requestChange(deps, ...given),
    readChangeRequest: async (tenantId, id) => (await store.read(tenantId, id)) ?? notFound,
    listChangeRequests: store.list,
    decideChange: (...given) => decideChange(deps, ...given),
    listChangeDecisions: (tenantId, id) => listDecisions(deps, tenantId, id),
    cancelChange: (...given) => cancelChange(deps, ...given),
    applyDue: createDueApplier(deps),
  };
}

async function requestChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  body: CreateChangeRequestBody,
  idempotencyKey: string | undefined,
  signedBy?: CredentialProof["signedBy"],
): Promise<{ request: ChangeRequest; replayed: boolean } | Refused> {
  const keyed = idempotentRequest(idempotencyKey, body);
  // Before the change is checked: once it is applied, the same change can no longer be requested.
  const earlier = keyed && (await deps.store.findEarlier(origin.principal.tenantId, keyed.key));
  if (earlier !== undefined)
    return replay(earlier.requestHash, keyed?.hash, () => ({ request: earlier.earlier, replayed: true }));
  const checked = await executorOf(deps, body.kind).check(origin, body.change as never, {
    currentSecret: "current_secret" in body ? body.current_secret : undefined,
    signedBy,
  });
  if (isRefused(checked)) return checked;
  const createdAt = new Date(deps.now());
  const requirement = { expiresAfterSeconds: expiresAfterSecondsDefault, ...checked.requirement };
  const request: ChangeRequest = {
    tenantId: origin.principal.tenantId,
    id: deps.newUuid(),
    kind: body.kind,
    target: checked.target,
    change: checked.change ?? body.change,
    comment: body.comment ?? null,
    requirement,
    state: "pending",
    version: 1,
    requestedBy: origin.principal.clientId,
    failureCode: null,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + requirement.expiresAfterSeconds * 1000),
    effectiveAt: null,
    updatedAt: createdAt,
    decisions: [],
  };
  // Without approvals it is applied at once.
  const unprepared = requirement.approvals === 0 ? await prepareChange(deps, request) : undefined;
  if (unprepared !== undefined) return unprepared;
  return deps.store.unitOfWork(async (unit) => {
    const open = await unit.countOpen(request.tenantId, request.requestedBy);
    const refused =
      (await unit.reviewCaller(request.tenantId, callerReviewOf(origin, deps.now))) ?? refuseFull(open);
    if (refused !== undefined) return refused;
    const found = await unit.insert(request, keyed);
    if (found !== undefined)
      return replay(found.requestHash, keyed?.hash, () => ({ request: found.earlier, replayed: true }));
    unit.save(request, "none", [
      describeActOn(request.target, origin, "change_request.create", showId("chr", request.id), createdAt),
    ]);
    return { request: await advance(deps, unit, request, createdAt), replayed: false };
  }, origin.onClientsRead);
}

function refuseFull({ ofTenant, own, ofLineage }: OpenChanges): Refused | undefined {
  const refused = "CHANGE_REQUEST_LIMIT_REACHED";
  if (own >= openOfClientMax)
    return { refused, message: `The client has ${own} open change requests. Cancel some of them first.` };
  if (ofLineage >= openOfLineageMax)
    return {
      refused,
      message: "The clients that one client has created or changed have too many open change requests.",
    };
  return ofTenant >= openMax ? { refused } : undefined;
}

async function cancelChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  id: string,
  onRead: OnRead,
): Promise<ChangeRequest | Refused> {
  const { tenantId, clientId } = origin.principal;
  const now = new Date(deps.now());
  return deps.store.unitOfWork(async (unit) => {
    const request = await lockAuthentic(unit, { tenantId, id }, now, onRead);
    if (isRefused(request)) return request;
    const revoked = await unit.reviewCaller(tenantId, callerReviewOf(origin, deps.now));
    if (revoked !== undefined) return revoked;
    if (clientId !== request.requestedBy)
      return {
        refused: "POLICY_REJECTED",
        message: "Only the client that requested the change can cancel it.",
      };
    if (!isOpen(request)) return isClosed;
    const cancelled = withNext(request, { state: "cancelled" }, now);
    unit.save(cancelled, request.state, [
      describeAct(origin, "change_request.cancel", showId("chr", id), now),
    ]);
    return cancelled;
  });
}
