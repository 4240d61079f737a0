import { type Approval, tallyApprovals } from "@bursar/domain";
import { type ChangeKind, showId } from "@bursar/protocol";
import { type AuditDraft, describeLateAct } from "../audit/audit-entry.js";
import type { Refused } from "../requests/refused.js";
import type { EvidenceBox } from "../transactions/approvals/approval-evidence.js";
import type { ChangeExecutor, ChangeExecutors } from "./change-executor.js";
import {
  type ChangeRequest,
  type ChangeRequestStore,
  type ChangeStanding,
  type ChangeUnit,
  isOpen,
} from "./change-request.js";

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

export const notFound: Refused = { refused: "CHANGE_REQUEST_NOT_FOUND" };
export const isClosed: Refused = { refused: "CHANGE_REQUEST_CLOSED" };

/** Called with a change request that was read, whatever comes of it: what that costs depends on its size. */
export type OnRead = (request: ChangeRequest) => void;

/** Fails a request that was tampered with: what it says, and who is said to have approved it, is not known. */
export async function lockAuthentic(
  unit: ChangeUnit,
  { tenantId, id }: Pick<ChangeRequest, "tenantId" | "id">,
  now: Date,
  onRead?: OnRead,
): Promise<ChangeRequest | Refused> {
  const locked = await unit.lock(tenantId, id);
  if (locked === undefined) return notFound;
  const { request, isAuthentic } = locked;
  onRead?.(request);
  if (!isOpen(request)) return request;
  if (isAuthentic && (await unit.isOpenInLog(tenantId, showId("chr", id)))) return request;
  const version = Math.max(request.version, await unit.lastVersion(request));
  const tampered = { state: "failed", failureCode: "CHANGE_REQUEST_TAMPERED" } as const;
  const failed = withNext({ ...request, version }, tampered, now);
  const act = describeLateAct(request, "change_request.fail", showId("chr", id), now);
  unit.save(failed, request.state, [{ ...act, actor: "service", clientId: null }]);
  return { refused: "CHANGE_REQUEST_TAMPERED" };
}

/** Prepares a change that the next unit of work could apply. */
export async function prepareChange(
  deps: ChangeRequestDeps,
  request: ChangeRequest | undefined,
): Promise<Refused | undefined> {
  if (request === undefined || !isOpen(request)) return undefined;
  const isDelayed = request.state === "pending" && request.requirement.delaySeconds > 0;
  return isDelayed ? undefined : await executorOf(deps, request.kind).prepare?.(request as never);
}

/**
 * Takes an open request as far as it can go now: pending until it is approved or expires, scheduled until its delay has passed, then
 * applied. The approvals are tallied again before a scheduled change takes effect, because an approver can have been taken over since.
 */
export async function advance(
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  request: ChangeRequest,
  now: Date,
): Promise<ChangeRequest> {
  const { requester, approvals } = await readImpartial(deps, unit, request);
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

/**
 * The standing behind a change request without the approvals of clients that get by the change what they lack. A helpdesk that has made a
 * client and kept its secret would otherwise approve that the client may pay. With a single administrator nobody is compared.
 */
async function readImpartial(
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  request: ChangeRequest,
): Promise<ChangeStanding> {
  const { requester, approvals } = await unit.readStanding(request);
  const gainers = await findGainers(deps, unit, request, requester);
  const isImpartial = ({ clientId, decision }: Approval) => decision === "reject" || !gainers.has(clientId);
  return { requester, approvals: approvals.filter(isImpartial) };
}

/** Of the clients that have approved, those that get by the change what they lack. */
export async function findGainers(
  deps: ChangeRequestDeps,
  unit: ChangeUnit,
  { kind, change, decisions }: ChangeRequest,
  { isSingleAdministrator }: ChangeStanding["requester"],
): Promise<ReadonlySet<string>> {
  const raise = isSingleAdministrator ? undefined : executorOf(deps, kind).raiseOf?.(change);
  const approved = decisions.filter(({ decision }) => decision === "approve");
  if (raise === undefined || approved.length === 0) return new Set();
  return unit.findGainers(
    raise,
    approved.map(({ clientId }) => clientId),
  );
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
  const action = acts[next.state] ?? `change_request.${next.state}`;
  const act = describeLateAct(request, action, showId("chr", request.id), now);
  // Why it failed can show who has changed something in between.
  const audit: AuditDraft = { ...act, code: next.failureCode };
  unit.save(next, request.state, [audit]);
  return next;
}

export function withNext(request: ChangeRequest, change: Partial<ChangeRequest>, now: Date): ChangeRequest {
  return { ...request, ...change, version: request.version + 1, updatedAt: now };
}

export function executorOf({ executors }: ChangeRequestDeps, kind: ChangeKind): ChangeExecutor<ChangeKind> {
  return executors[kind] as ChangeExecutor<ChangeKind>;
}
