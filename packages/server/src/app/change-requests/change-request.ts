import { hash } from "node:crypto";
import { type Approval, changeContent, type Initiator } from "@bursar/domain";
import {
  type ChangeKind,
  type ChangeOf,
  type ChangeRequest as ChangeRequestBody,
  showId,
} from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { CallerReview, ClientUnit } from "../clients/client.js";
import type { RaisingChange } from "../clients/client-authority.js";
import type { Destination, DestinationStore } from "../destinations/destination.js";
import type { PolicyReads, PolicyStore } from "../policy/policy.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Listed } from "../requests/listed.js";
import type { Refused } from "../requests/refused.js";
import type { ApprovalEvidence } from "../transactions/approvals/approval-evidence.js";

/** What a change needs before it takes effect. Fixed when it is requested. */
export interface ChangeRequirement {
  approvals: number;
  /** The UUIDs of the clients that may decide; null means any protected client. */
  clientIds: readonly string[] | null;
  /** How long an approved change waits. */
  delaySeconds: number;
  expiresAfterSeconds: number;
}

/** A change that one client requests and others approve. */
export interface ChangeRequest<Kind extends ChangeKind = ChangeKind> {
  tenantId: string;
  id: string;
  kind: Kind;
  /** The public id of what would be changed. */
  target: string;
  /** As it was requested, with public ids, and with the scopes of the role that it gives. */
  change: ChangeOf<Kind>;
  comment: string | null;
  requirement: ChangeRequirement;
  state: ChangeRequestBody["state"];
  version: number;
  requestedBy: string;
  failureCode: string | null;
  createdAt: Date;
  expiresAt: Date;
  effectiveAt: Date | null;
  updatedAt: Date;
  decisions: readonly ChangeDecision[];
}

export interface ChangeDecision {
  version: number;
  clientId: string;
  decision: "approve" | "reject";
  comment: string | null;
  decidedAt: Date;
}

/** Whether a change request is still open: it can be decided, cancelled, or take effect. */
export function isOpen({ state }: Pick<ChangeRequest, "state">): boolean {
  return state === "pending" || state === "scheduled";
}

/** The digest that a decision names. */
export function digestOfChange(request: Omit<ChangeRequest, "decisions">): string {
  return hash("sha256", contentOfChange(request), "hex");
}

/** The canonical JSON behind the digest. */
export function contentOfChange(request: Omit<ChangeRequest, "decisions">): string {
  return changeContent({
    tenantId: showId("tnt", request.tenantId),
    changeRequestId: showId("chr", request.id),
    kind: request.kind,
    target: request.target,
    change: request.change,
    requestedBy: showId("cli", request.requestedBy),
    expiresAt: request.expiresAt.toISOString(),
  });
}

/** How many change requests are open. */
export interface OpenChanges {
  ofTenant: number;
  /** Of the requester. */
  own: number;
  /** Of others that share a lineage with the requester; 0 if no client controls the requester. */
  ofLineage: number;
}

/** The clients behind a change request as they are now: whether they still may, and their lineages. */
export interface ChangeStanding {
  requester: Initiator & { isEnabled: boolean; scopes: readonly string[] };
  approvals: readonly Approval[];
}

/** What a change would let a client do. */
export interface RequestedRaise {
  clientId: string;
  set: RaisingChange;
}

/**
 * One SQL transaction in which a change request changes, and in which its change is applied. A kind that changes something else than a
 * client adds the write that it needs here, and what it reads: a read through the pool would wait for a second connection while this
 * one is held. Audit entries and events are appended at the end of the unit, in the order in which they were given.
 */
export interface ChangeUnit extends ClientUnit, PolicyReads {
  /** Inserts a new request, or finds the one that an earlier request with the same key created. */
  insert: (
    request: ChangeRequest,
    keyed: IdempotentRequest | undefined,
  ) => Promise<Earlier<ChangeRequest> | undefined>;
  /** Puts the next version of the policy in force; undefined if the version in force is not the expected one. */
  writePolicy: PolicyStore["writePolicy"];
  /** False if the address is on the list already. */
  addDestination: (destination: Destination, audit: AuditDraft) => Promise<boolean>;
  /** False if there is no such entry. */
  removeDestination: DestinationStore["removeDestination"];
  /** Reviews the caller as it is in this SQL transaction; call it after what the unit waits for, and before a change is applied. */
  reviewCaller: (tenantId: string, caller: CallerReview | undefined) => Promise<Refused | undefined>;
  countOpen: (tenantId: string, requesterId: string) => Promise<OpenChanges>;
  /** Whether no client could act as both; with a single administrator, whether they are two. */
  areIndependent: (clientId: string, otherId: string) => Promise<boolean>;
  /**
   * Of these approvers, those that would get by the raise what they lack, because they can act as the client.
   */
  findGainers: (raise: RequestedRaise, approverIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Not authentic: somebody other than the service has written the request or a decision. */
  lock: (
    tenantId: string,
    id: string,
  ) => Promise<{ request: ChangeRequest; isAuthentic: boolean } | undefined>;
  /**
   * Whether the audit log has the creation of a change request and no end of it. The row of one that was rejected can be put back, with its
   * MAC of then.
   */
  isOpenInLog: (tenantId: string, shownId: string) => Promise<boolean>;
  /** The version of its last event. It is later than that of a row that was put back. */
  lastVersion: (request: ChangeRequest) => Promise<number>;
  readStanding: (request: ChangeRequest) => Promise<ChangeStanding>;
  /** The signature of the request that decided is stored with it, if there is one. */
  recordDecision: (
    request: ChangeRequest,
    decision: ChangeDecision,
    evidence: ApprovalEvidence | null,
  ) => void;
  /** Writes the state and the version of the request, with its event and audit entries. */
  save: (
    request: ChangeRequest,
    previousState: ChangeRequest["state"] | "none",
    audit: readonly AuditDraft[],
  ) => void;
}

export interface DueChange {
  tenantId: string;
  id: string;
  /** As the store writes it, with every digit. */
  dueAt: string;
}

export interface ChangeRequestStore {
  /** What an earlier request with the same idempotency key created. */
  findEarlier: (tenantId: string, key: string) => Promise<Earlier<ChangeRequest> | undefined>;
  /** `onClientsRead` is called with the number of clients that were read to tell who is independent of whom. */
  unitOfWork: <T>(
    work: (unit: ChangeUnit) => Promise<T>,
    onClientsRead?: (count: number) => void,
  ) => Promise<T>;
  /** Without its decisions if it was changed in the database; so are those of `list` and `findEarlier`. */
  read: (tenantId: string, id: string) => Promise<ChangeRequest | undefined>;
  /** Every decision on a request, oldest first, with its signature if it has one. */
  listEvidence: (
    tenantId: string,
    id: string,
  ) => Promise<(ChangeDecision & { evidence: ApprovalEvidence | null })[]>;
  /** Newest first; `beforeId` is the last id of the previous page. */
  list: (
    tenantId: string,
    filter: { state?: ChangeRequest["state"] },
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<ChangeRequest>>;
  /** Open requests that have expired or are to take effect, the oldest first; `after` is the last one of the previous page. */
  listDue: (now: Date, limit: number, after: DueChange | undefined) => Promise<DueChange[]>;
  /** Without their decisions, for events. */
  readMany: (tenantId: string, ids: readonly string[]) => Promise<ChangeRequest[]>;
}
