import { findIndependenceFault, mayApprove, recordedApprovalsMax } from "@bursar/domain";
import { type ApprovalRecords, type DecideChangeBody, showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import { callerReviewOf, describeActOn } from "../clients/review-caller.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type ApprovalProof,
  presentRecords,
  sealEvidence,
} from "../transactions/approvals/approval-evidence.js";
import {
  advance,
  type ChangeRequestDeps,
  executorOf,
  findGainers,
  isClosed,
  lockAuthentic,
  notFound,
  type OnRead,
  prepareChange,
  withNext,
} from "./advance-change.js";
import {
  type ChangeDecision,
  type ChangeRequest,
  type ChangeUnit,
  contentOfChange,
  digestOfChange,
  isOpen,
} from "./change-request.js";
import { refuseDependence, refuseGainer } from "./refuse-dependence.js";

export interface GivenDecision extends DecideChangeBody {
  decision: "approve" | "reject";
  /** The signature of the request that decides, if it has one. */
  proof: ApprovalProof | null;
}

export async function decideChange(
  deps: ChangeRequestDeps,
  origin: ClientOrigin,
  id: string,
  { decision, digest, comment, proof }: GivenDecision,
  onRead: OnRead,
): Promise<ChangeRequest | Refused> {
  const { tenantId, clientId } = origin.principal;
  const unprepared = decision === "approve" ? await readAndPrepare(deps, tenantId, id, onRead) : undefined;
  if (unprepared !== undefined) return unprepared;
  const decidedAt = new Date(deps.now());
  return deps.store.unitOfWork(async (unit) => {
    const request = await lockAuthentic(unit, { tenantId, id }, decidedAt, onRead);
    if (isRefused(request)) return request;
    const made = { version: request.version + 1, clientId, decision, comment: comment ?? null, decidedAt };
    const refused =
      (await unit.reviewCaller(tenantId, callerReviewOf(origin, deps.now))) ??
      refuseDecider(request, clientId, digest, decidedAt) ??
      (decision === "reject"
        ? await refuseRejecter(deps, unit, request, made)
        : await refuseDependent(deps, unit, request, made));
    if (refused !== undefined) return refused;
    if (request.decisions.some((one) => one.clientId === clientId && one.decision === decision))
      return request;
    if (decision === "approve" && request.decisions.length >= recordedApprovalsMax)
      return { refused: "APPROVAL_LIMIT_REACHED" };
    const decided = withNext(request, { decisions: [...request.decisions, made] }, decidedAt);
    unit.recordDecision(request, made, proof && sealEvidence(deps.box, { tenantId, id }, proof));
    const act = [origin, `change_request.${decision}`, showId("chr", id), decidedAt] as const;
    const audit = decision === "reject" ? describeAct(...act) : describeActOn(request.target, ...act);
    if (decision === "reject") {
      const rejected: ChangeRequest = { ...decided, state: "rejected" };
      unit.save(rejected, request.state, [audit]);
      return rejected;
    }
    unit.save(decided, request.state, [audit]);
    return await advance(deps, unit, decided, decidedAt);
  }, origin.onClientsRead);
}

async function readAndPrepare(
  deps: ChangeRequestDeps,
  tenantId: string,
  id: string,
  onRead: OnRead,
): Promise<Refused | undefined> {
  const request = await deps.store.read(tenantId, id);
  if (request !== undefined) onRead(request);
  return await prepareChange(deps, request);
}

export async function listDecisions(
  { store, box }: ChangeRequestDeps,
  tenantId: string,
  id: string,
): Promise<ApprovalRecords | Refused> {
  // Before the request, which then has all of them, unless it was changed in the database.
  const decisions = await store.listEvidence(tenantId, id);
  const request = await store.read(tenantId, id);
  if (request === undefined) return notFound;
  const isRecorded = ({ version }: ChangeDecision) =>
    request.decisions.some((one) => one.version === version);
  if (!decisions.every(isRecorded)) return { refused: "CHANGE_REQUEST_TAMPERED" };
  const digest = digestOfChange(request);
  const data = presentRecords(
    box,
    { tenantId, id },
    decisions.map((decision) => ({ ...decision, digest, isAuthentic: true })),
  );
  return data === undefined
    ? { refused: "CHANGE_REQUEST_TAMPERED" }
    : { digest, content: contentOfChange(request), data };
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
  if (approvals[0]?.standingFault !== null)
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
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  request: ChangeRequest,
  made: ChangeRequest["decisions"][number],
): Promise<Refused | undefined> {
  const approved = { ...request, decisions: [made] };
  const { requester, approvals } = await unit.readStanding(approved);
  const [own] = approvals;
  if (own === undefined || own.standingFault !== null)
    return { refused: "POLICY_REJECTED", message: "Only a protected client can approve a change request." };
  const fault = findIndependenceFault(requester, own);
  if (fault !== undefined) return refuseDependence(fault, "change");
  const gainers = await findGainers(deps, unit, approved, requester);
  return gainers.size === 0 ? undefined : refuseGainer;
}
