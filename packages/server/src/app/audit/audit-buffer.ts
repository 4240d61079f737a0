import { addressBlock } from "../../runtime/address-block.js";
import { type AuditDraft, type ClientOrigin, nilTenantId } from "./audit-entry.js";

/**
 * Entries that wait to be written. Their number is bounded for each tenant and in total, and what does not fit is counted: the counts are
 * written as entries `audit.dropped` of the tenant that they belong to, one for each client, which name the actions and error codes. If the total is reached, the tenant with the most entries loses
 * one, so a tenant cannot make the entries of another disappear. The refusals of one client are bounded too, so a client cannot
 * make those of another client of its tenant disappear.
 */
export interface AuditBuffer {
  /** Adds an entry. Equal refusals become one entry with a count. */
  add: (draft: AuditDraft) => void;
  /** Adds what a client did to an object. Acts that differ only in their object and request become one entry. */
  addAct: (origin: ClientOrigin, action: string, object: string, nowMs: number) => void;
  /** Whether a tenant has so many entries that they should not wait for the next regular write. */
  isUrgent: () => boolean;
  /** Takes everything out, tenant by tenant. */
  take: () => TenantDrafts[];
  /** The number of entries, including those that only count others. */
  size: () => number;
}

export interface TenantDrafts {
  tenantId: string;
  drafts: readonly AuditDraft[];
}

const entriesPerTenantMax = 500;
/** Refusals leave room for what succeeded. */
const refusalsPerTenantMax = 250;
/** Beyond this many kinds of refusals of one client in one write, only the action and the error code are recorded. */
const kindsPerClientMax = 50;
const refusalsPerClientMax = 2 * kindsPerClientMax;
const entriesMax = 5000;
const urgentEntries = 250;
/** The number of objects in one entry: about 3 kB. */
const objectsMax = 100;
/** Beyond this many kinds of anonymous attempts in one write, of one address block or of all, their addresses are no longer recorded. */
const anonymousOfBlockMax = 10;
const anonymousOfTenantMax = 100;
/** Attempts about no tenant: anybody can cause them. */
const anonymousOfNoTenantMax = 10;
/** What these are about is a person of the tenant, so their objects are few, and say whom somebody tried to be. */
const loginActions: readonly string[] = [
  "session.open",
  "invitation.open",
  "invitation.use",
  "passkey.register",
];

interface WaitingEntry extends Omit<AuditDraft, "repeated" | "objects"> {
  repeated: number;
  objects: string[] | null;
}

interface WaitingTenant {
  entries: Map<string, WaitingEntry>;
  anonymous: number;
  anonymousByBlock: Map<string, number>;
  refusals: number;
  refusalsByClient: Map<string, number>;
  /** By client; null for unauthenticated callers, and for what more clients had dropped than are kept apart. */
  dropped: Map<string | null, Dropped>;
}

interface Dropped {
  count: number;
  at: Date;
  /** Actions with their error codes, such as `PUT:/v1/policy:INSUFFICIENT_SCOPE`. */
  tried: Set<string>;
}

/** Routes and their error codes are few: nobody can have more kinds of them than this, so nothing that was tried is hidden. */
const triedMax = 1000;
const droppedClientsMax = 50;

export function createAuditBuffer(): AuditBuffer {
  let tenants = new Map<string, WaitingTenant>();
  let total = 0;
  let isUrgent = false;
  /** Makes keys unique. */
  let serial = 0;

  function tenantOf(tenantId: string | undefined): WaitingTenant {
    const id = tenantId ?? nilTenantId;
    let tenant = tenants.get(id);
    if (tenant === undefined) {
      tenant = {
        entries: new Map(),
        anonymous: 0,
        anonymousByBlock: new Map(),
        refusals: 0,
        refusalsByClient: new Map(),
        dropped: new Map(),
      };
      tenants.set(id, tenant);
    }
    return tenant;
  }

  function add(given: AuditDraft): void {
    const tenant = tenantOf(given.tenantId);
    if (given.action === droppedAction) {
      drop(tenant, given);
      return;
    }
    const draft = withoutExcess(tenant, given);
    const key = draft.outcome === "refused" ? kindOf(draft) : uniqueKey();
    const equal = tenant.entries.get(key);
    if (equal !== undefined) equal.repeated += draft.repeated;
    else insert(tenant, key, { ...draft, objects: draft.objects == null ? null : [...draft.objects] });
  }

  function addAct(origin: ClientOrigin, action: string, object: string, nowMs: number): void {
    const { principal, requestId, address } = origin;
    const { tenantId, clientId, tokenId, sessionId = null } = principal;
    const tenant = tenantOf(tenantId);
    const key = `${action} ${tokenId} ${clientId} ${address}`;
    const open = tenant.entries.get(key);
    if (open === undefined) {
      insert(tenant, key, {
        tenantId,
        occurredAt: new Date(nowMs),
        actor: "client",
        clientId,
        tokenId,
        sessionId,
        action,
        object,
        objects: null,
        outcome: "succeeded",
        code: null,
        repeated: 1,
        requestId,
        address,
      });
      return;
    }
    if (open.objects === null) {
      open.objects = open.object === null ? [object] : [open.object, object];
      open.object = null;
    } else open.objects.push(object);
    open.repeated += 1;
    if (open.repeated < objectsMax) return;
    // A full entry makes room for the next one under its key.
    tenant.entries.delete(key);
    tenant.entries.set(uniqueKey(), open);
  }

  function insert(tenant: WaitingTenant, key: string, entry: WaitingEntry): void {
    const isRefusal = entry.outcome === "refused";
    const isFull =
      tenant.entries.size >= entriesPerTenantMax ||
      (isRefusal && tenant.refusals >= refusalsPerTenantMax) ||
      (isRefusal && refusalsOf(tenant, entry) >= refusalsPerClientMax);
    if (isFull || (total >= entriesMax && !makeRoomFor(tenant))) {
      drop(tenant, entry);
      return;
    }
    tenant.entries.set(key, entry);
    total += 1;
    if (isRefusal) countRefusal(tenant, entry, 1);
    if (entry.actor === "anonymous") countAnonymous(tenant, entry);
    if (tenant.entries.size >= urgentEntries) isUrgent = true;
  }

  /** Drops an entry of the tenant with the most, unless that is this one. */
  function makeRoomFor(tenant: WaitingTenant): boolean {
    if (tenant.entries.size >= entriesMax / tenants.size) return false;
    let largest = tenant;
    for (const other of tenants.values()) if (other.entries.size > largest.entries.size) largest = other;
    const last = [...largest.entries].at(-1);
    if (largest === tenant || last === undefined) return false;
    largest.entries.delete(last[0]);
    if (last[1].outcome === "refused") countRefusal(largest, last[1], -1);
    total -= 1;
    drop(largest, last[1]);
    return true;
  }

  function drop({ dropped }: WaitingTenant, entry: WaitingEntry | AuditDraft): void {
    const isKeptApart = dropped.has(entry.clientId) || dropped.size < droppedClientsMax;
    const clientId = isKeptApart ? entry.clientId : null;
    const { count = 0, tried = new Set<string>() } = dropped.get(clientId) ?? {};
    // One that could not be written is added again as it was.
    const labels = entry.action === droppedAction ? (entry.objects ?? []) : [labelOf(entry)];
    for (const label of labels) if (tried.size < triedMax) tried.add(label);
    dropped.set(clientId, { count: count + entry.repeated, at: entry.occurredAt, tried });
  }

  function uniqueKey(): string {
    serial += 1;
    return `#${serial}`;
  }

  return {
    add,
    addAct,
    isUrgent: () => isUrgent,
    take: () => {
      const taken = [...tenants].map(([tenantId, tenant]) => ({
        tenantId,
        drafts: [...tenant.entries.values(), ...describeDropped(tenantId, tenant)],
      }));
      tenants = new Map();
      total = 0;
      isUrgent = false;
      return taken;
    },
    size: () => [...tenants.values()].reduce((sum, { dropped }) => sum + dropped.size, total),
  };
}

const droppedAction = "audit.dropped";

/** The number of kinds of refusals of the client of an entry. */
function refusalsOf(tenant: WaitingTenant, { clientId }: { clientId: string | null }): number {
  return clientId === null ? 0 : (tenant.refusalsByClient.get(clientId) ?? 0);
}

function countRefusal(tenant: WaitingTenant, entry: WaitingEntry, change: 1 | -1): void {
  tenant.refusals += change;
  if (entry.clientId !== null)
    tenant.refusalsByClient.set(entry.clientId, refusalsOf(tenant, entry) + change);
}

/** Removes what a caller can vary freely from an entry of a new kind, if there are too many kinds of that caller. */
function withoutExcess(tenant: WaitingTenant, draft: AuditDraft): AuditDraft {
  const isExcess =
    draft.actor === "anonymous"
      ? isAnonymousExcess(tenant, draft)
      : draft.outcome === "refused" && refusalsOf(tenant, draft) >= kindsPerClientMax;
  if (!isExcess || tenant.entries.has(kindOf(draft))) return draft;
  const object = loginActions.includes(draft.action) ? draft.object : null;
  return { ...draft, tokenId: null, sessionId: null, address: null, object, objects: null };
}

/** An attacker with noise from one address does not hide what is tried from another one. */
function isAnonymousExcess(tenant: WaitingTenant, { tenantId, address }: AuditDraft): boolean {
  const max = tenantId === undefined ? anonymousOfNoTenantMax : anonymousOfTenantMax;
  const ofBlock = tenant.anonymousByBlock.get(addressBlock(address ?? "")) ?? 0;
  return tenant.anonymous >= max || ofBlock >= anonymousOfBlockMax;
}

function countAnonymous(tenant: WaitingTenant, { address }: WaitingEntry): void {
  if (address === null) return;
  const block = addressBlock(address);
  tenant.anonymous += 1;
  tenant.anonymousByBlock.set(block, (tenant.anonymousByBlock.get(block) ?? 0) + 1);
}

/** For each client, one entry with the count, or several that share it if too much was tried for one. */
function describeDropped(tenantId: string, { dropped }: WaitingTenant): AuditDraft[] {
  return [...dropped].flatMap(([clientId, { count, at, tried }]) => {
    const labels = [...tried];
    const pageCount = Math.min(count, Math.max(1, Math.ceil(labels.length / objectsMax)));
    return Array.from({ length: pageCount }, (_, page) => ({
      tenantId,
      occurredAt: at,
      actor: "service" as const,
      clientId,
      tokenId: null,
      action: droppedAction,
      object: null,
      objects: labels.slice(page * objectsMax, (page + 1) * objectsMax),
      outcome: "succeeded" as const,
      code: null,
      repeated: page === 0 ? count - (pageCount - 1) : 1,
      requestId: null,
      address: null,
    }));
  });
}

/** Without a space, as every object of an entry. */
function labelOf({ action, code }: WaitingEntry | AuditDraft): string {
  return (code === null ? action : `${action} ${code}`).replaceAll(" ", ":");
}

/** Two refusals of a tenant are equal if only their time and their request differ. */
function kindOf({ clientId, tokenId, action, object, objects, code, address }: AuditDraft): string {
  return JSON.stringify([clientId, tokenId, action, object, objects ?? null, code, address]);
}
