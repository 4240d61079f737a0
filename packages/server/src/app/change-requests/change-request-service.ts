import { findIndependenceFault, mayApprove, recordedApprovalsMax, tallyApprovals } from "@bursar/domain";
import {
  type ApprovalRecords,
  type ChangeKind,
  type CreateChangeRequestBody,
  type DecideChangeBody,
  showId,
} from "@bursar/protocol";
import { type AuditDraft, type ClientOrigin, describeAct, describeLateAct } from "../audit/audit-entry.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type ApprovalProof,
  type EvidenceBox,
  presentRecord,
  sealEvidence,
} from "../transactions/approval-evidence.js";
import type { ChangeExecutor, ChangeExecutors } from "./change-executor.js";
import {
  type ChangeRequest,
  type ChangeRequestStore,
  type ChangeUnit,
  contentOfChange,
  digestOfChange,
  isOpen,
  type OpenChanges,
} from "./change-request.js";
import { refuseDependence } from "./refuse-dependence.js";

/** Requests for changes that another client must approve, and their way to `applied`. */
export interface ChangeRequestService {
  requestChange: (
    origin: ClientOrigin,
    body: CreateChangeRequestBody,
    idempotencyKey: string | undefined,
  ) => Promise<{ request: ChangeRequest; replayed: boolean } | Refused>;
  readChangeRequest: (tenantId: string, id: string) => Promise<ChangeRequest | Refused>;
  listChangeRequests: ChangeRequestStore["list"];
  decideChange: (
    origin: ClientOrigin,
    id: string,
    decision: "approve" | "reject",
    body: DecideChangeBody,
    /** The signature of the request, if it has one. */
    proof: ApprovalProof | null,
  ) => Promise<ChangeRequest | Refused>;
  /** The decisions on a request, with what is needed to verify them without trusting the service. */
  listChangeDecisions: (tenantId: string, id: string) => Promise<ApprovalRecords | Refused>;
  /** Only for the client that requested it. */
  cancelChange: (origin: ClientOrigin, id: string) => Promise<ChangeRequest | Refused>;
}

export interface ChangeRequestDeps {
  store: ChangeRequestStore;
  executors: ChangeExecutors;
  /** Encrypts the signed content of decisions. */
  box: EvidenceBox;
  /** Called if one that is due could not be processed. It stays due. */
  onFailure: (request: { tenantId: string; id: string }, error: unknown) => void;
  newUuid: () => string;
  now: () => number;
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
    requestChange: (origin, body, idempotencyKey) => requestChange(deps, origin, body, idempotencyKey),
    readChangeRequest: async (tenantId, id) => (await store.read(tenantId, id)) ?? notFound,
    listChangeRequests: store.list,
    decideChange: (origin, id, decision, body, proof) =>
      decideChange(deps, origin, id, { ...body, decision, proof }),
    listChangeDecisions: (tenantId, id) => listDecisions(deps, tenantId, id),
    cancelChange: (origin, id) => cancelChange(deps, origin, id),
    applyDue: () => applyDue(deps),
  };
}

const notFound: Refused = { refused: "CHANGE_REQUEST_NOT_FOUND" };
const isClosed: Refused = { refused: "CHANGE_REQUEST_CLOSED" };

async function requestChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  body: CreateChangeRequestBody,
  idempotencyKey: string | undefined,
): Promise<{ request: ChangeRequest; replayed: boolean } | Refused> {
  const keyed = idempotentRequest(idempotencyKey, body);
  // Before the change is checked: once it is applied, the same change can no longer be requested.
  const earlier = keyed && (await deps.store.findEarlier(origin.principal.tenantId, keyed.key));
  if (earlier !== undefined)
    return replay(earlier.requestHash, keyed?.hash, () => ({ request: earlier.earlier, replayed: true }));
  const checked = await executorOf(deps, body.kind).check(origin, body.change as never);
  if (isRefused(checked)) return checked;
  const createdAt = new Date(deps.now());
  const requirement = { expiresAfterSeconds: expiresAfterSecondsDefault, ...checked.requirement };
  const request: ChangeRequest = {
    tenantId: origin.principal.tenantId,
    id: deps.newUuid(),
    kind: body.kind,
    target: checked.target,
    change: body.change,
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
  return deps.store.unitOfWork(async (unit) => {
    const full = refuseFull(await unit.countOpen(request.tenantId, request.requestedBy));
    if (full !== undefined) return full;
    const found = await unit.insert(request, keyed);
    if (found !== undefined)
      return replay(found.requestHash, keyed?.hash, () => ({ request: found.earlier, replayed: true }));
    unit.save(request, "none", [
      describeAct(origin, "change_request.create", showId("chr", request.id), createdAt),
    ]);
    return { request: await advance(deps, unit, request, createdAt), replayed: false };
  });
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

/** Fails a request that was tampered with: what it says, and who is said to have approved it, is not known. */
async function lockAuthentic(
  unit: ChangeUnit,
  tenantId: string,
  id: string,
  now: Date,
): Promise<ChangeRequest | Refused> {
  const locked = await unit.lock(tenantId, id);
  if (locked === undefined) return notFound;
  const { request, isAuthentic } = locked;
  if (isAuthentic || !isOpen(request)) return request;
  const failed = withNext(request, { state: "failed", failureCode: "CHANGE_REQUEST_TAMPERED" }, now);
  const act = describeLateAct(request, "change_request.fail", showId("chr", id), now);
  unit.save(failed, request.state, [{ ...act, actor: "service", clientId: null }]);
  return { refused: "CHANGE_REQUEST_TAMPERED" };
}

async function decideChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  id: string,
  {
    decision,
    digest,
    comment,
    proof,
  }: DecideChangeBody & { decision: "approve" | "reject"; proof: ApprovalProof | null },
): Promise<ChangeRequest | Refused> {
  const { tenantId, clientId } = origin.principal;
  const decidedAt = new Date(deps.now());
  return deps.store.unitOfWork(async (unit) => {
    const request = await lockAuthentic(unit, tenantId, id, decidedAt);
    if (isRefused(request)) return request;
    const made = { version: request.version + 1, clientId, decision, comment: comment ?? null, decidedAt };
    const refused =
      refuseDecider(request, clientId, digest, decidedAt) ??
      (decision === "reject"
        ? await refuseRejecter(deps, unit, request, made)
        : await refuseDependent(unit, request, made));
    if (refused !== undefined) return refused;
    if (request.decisions.some((one) => one.clientId === clientId && one.decision === decision))
      return request;
    if (decision === "approve" && request.decisions.length >= recordedApprovalsMax)
      return { refused: "APPROVAL_LIMIT_REACHED" };
    const decided = withNext(request, { decisions: [...request.decisions, made] }, decidedAt);
    unit.recordDecision(request, made, proof && sealEvidence(deps.box, id, proof));
    const audit = describeAct(origin, `change_request.${decision}`, showId("chr", id), decidedAt);
    if (decision === "reject") {
      const rejected: ChangeRequest = { ...decided, state: "rejected" };
      unit.save(rejected, request.state, [audit]);
      return rejected;
    }
    unit.save(decided, request.state, [audit]);
    return await advance(deps, unit, decided, decidedAt);
  });
}

async function listDecisions(
  { store, box, now }: ChangeRequestDeps,
  tenantId: string,
  id: string,
): Promise<ApprovalRecords | Refused> {
  const request = await store.read(tenantId, id);
  if (request === undefined) return notFound;
  const at = new Date(now());
  const decisions = await store.listEvidence(tenantId, id);
  return {
    digest: digestOfChange(request),
    content: contentOfChange(request),
    data: decisions.map((decision) => presentRecord(decision, (base) => box.open(id, base), at)),
  };
}

function refuseDecider(
  request: ChangeRequest,
  clientId: string,
  digest: string,
  decidedAt: Date,
): Refused | undefined {
  if (!isOpen(request)) return isClosed;
  if (request.state === "pending" && decidedAt >= request.expiresAt)
    return { refused: "CHANGE_REQUEST_CLOSED", message: "The change request has expired." };
  if (clientId === request.requestedBy)
    return { refused: "POLICY_REJECTED", message: "A client cannot decide its own change request." };
  if (!mayApprove(request.requirement, request.requestedBy, clientId))
    return { refused: "POLICY_REJECTED", message: "The policy does not list this client as an approver." };
  return digest === digestOfChange(request) ? undefined : { refused: "CHANGE_REQUEST_STALE" };
}

/**
 * A rejection needs no independence of the requester, because stopping is safe. But the client that would lose its authority, and those
 * that depend on it, would stop what protects the others from them.
 */
async function refuseRejecter(
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  request: ChangeRequest,
  made: ChangeRequest["decisions"][number],
): Promise<Refused | undefined> {
  const { approvals } = await unit.readStanding({ ...request, decisions: [made] });
  if (approvals[0]?.isEnabled !== true)
    return { refused: "POLICY_REJECTED", message: "Only a protected client can reject a change request." };
  const loserId = executorOf(deps, request.kind).loserOf?.(request.change);
  if (loserId === undefined || (await unit.areIndependent(made.clientId, loserId))) return undefined;
  return {
    refused: "APPROVER_NOT_INDEPENDENT",
    message: "A client that the change would restrict, or one that depends on it, cannot reject the change.",
  };
}

/** Whether the decider's approval would count; the decision is looked at as if it had been recorded. */
async function refuseDependent(
  unit: ChangeUnit,
  request: ChangeRequest,
  made: ChangeRequest["decisions"][number],
): Promise<Refused | undefined> {
  const { requester, approvals } = await unit.readStanding({ ...request, decisions: [made] });
  const [own] = approvals;
  if (own === undefined || !own.isEnabled)
    return { refused: "POLICY_REJECTED", message: "Only a protected client can approve a change request." };
  const fault = findIndependenceFault(requester, own);
  return fault && refuseDependence(fault, "change");
}

async function cancelChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  id: string,
): Promise<ChangeRequest | Refused> {
  const { tenantId, clientId } = origin.principal;
  const now = new Date(deps.now());
  return deps.store.unitOfWork(async (unit) => {
    const request = await lockAuthentic(unit, tenantId, id, now);
    if (isRefused(request)) return request;
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

const dueMax = 20;

/**
 * Expires or applies what is due; returns how many that were. Each has its own SQL transaction, so that one that fails does not keep the
 * others waiting.
 */
async function applyDue(deps: ChangeRequestDeps): Promise<number> {
  let done = 0;
  for (const { tenantId, id } of await deps.store.listDue(new Date(deps.now()), dueMax)) {
    const advancing = deps.store.unitOfWork(async (unit) => {
      const now = new Date(deps.now());
      const request = await lockAuthentic(unit, tenantId, id, now);
      if (!isRefused(request) && isOpen(request)) await advance(deps, unit, request, now);
      done += 1;
    });
    await advancing.catch((error: unknown) => deps.onFailure({ tenantId, id }, error));
  }
  return done;
}

/**
 * Takes an open request as far as it can go now: pending until it is approved or expires, scheduled until its delay has passed, then
 * applied. The approvals are tallied again before a scheduled change takes effect, because an approver can have been taken over since.
 */
async function advance(
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  request: ChangeRequest,
  now: Date,
): Promise<ChangeRequest> {
  const { requester, approvals } = await unit.readStanding(request);
  const tally = tallyApprovals(request.requirement, requester, approvals, now.getTime());
  if (request.state === "pending") {
    if (tally.state === "pending") return request;
    if (tally.state !== "approved") return close(unit, request, { state: tally.state }, now);
    const delayMs = request.requirement.delaySeconds * 1000;
    if (delayMs > 0) {
      const effectiveAt = new Date(now.getTime() + delayMs);
      return close(unit, request, { state: "scheduled", effectiveAt }, now);
    }
  } else if (request.effectiveAt !== null && now < request.effectiveAt) return request;
  if (!requester.isEnabled || tally.state !== "approved")
    return close(unit, request, { state: "failed", failureCode: "APPROVER_NOT_INDEPENDENT" }, now);
  const executor = executorOf(deps, request.kind);
  const refused = await executor.apply(unit, request as never, requester, now);
  if (refused !== undefined)
    return close(unit, request, { state: "failed", failureCode: refused.refused }, now);
  unit.afterCommit(() => executor.onApplied?.(request as never));
  return close(unit, request, { state: "applied", effectiveAt: now }, now);
}

const acts: Partial<Record<ChangeRequest["state"], string>> = {
  scheduled: "change_request.schedule",
  applied: "change_request.apply",
  failed: "change_request.fail",
  expired: "change_request.expire",
  rejected: "change_request.reject",
};

function close(
  unit: ChangeUnit,
  request: ChangeRequest,
  change: Partial<ChangeRequest> & Pick<ChangeRequest, "state">,
  now: Date,
): ChangeRequest {
  const next = withNext(request, change, now);
  const audit: AuditDraft = describeLateAct(
    request,
    acts[next.state] ?? `change_request.${next.state}`,
    showId("chr", request.id),
    now,
  );
  unit.save(next, request.state, [audit]);
  return next;
}

function withNext(request: ChangeRequest, change: Partial<ChangeRequest>, now: Date): ChangeRequest {
  return { ...request, ...change, version: request.version + 1, updatedAt: now };
}

function executorOf({ executors }: ChangeRequestDeps, kind: ChangeKind): ChangeExecutor<ChangeKind> {
  return executors[kind] as ChangeExecutor<ChangeKind>;
}
