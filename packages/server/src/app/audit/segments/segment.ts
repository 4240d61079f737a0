import { readId, showId } from "@bursar/protocol";
import type { IntegrityKeys } from "../../access/integrity-keys.js";
import { type ChainedAuditEntry, nilTenantId } from "../audit-entry.js";
import { isStatementAuthentic, signStatement } from "../checkpoint.js";

/**
 * A segment is a part of a tenant's audit log in a file of JSON lines: a header, the entries, and a signed end. The hashes of the entries
 * continue the chain from `previous_hash`. The end signs the digest of all bytes before it, so that the file can also be verified with
 * the public keys alone.
 */
interface SegmentHeader {
  object: "audit_segment";
  format: 1;
  /** Null for the chain of entries that belong to no tenant. */
  tenant_id: string | null;
  first_number: number;
  last_number: number;
  /** The hash of the entry before the first one. */
  previous_hash: string;
}

interface SegmentEnd {
  object: "audit_segment_end";
  /** The hash of the last entry. */
  hash: string;
  /** SHA-256 over all lines before this one, with their line feeds. */
  digest: string;
  time: string;
  key_id: string;
  signature: string;
}

/** What a verified segment contains. */
export interface Segment {
  tenantId: string;
  first: bigint;
  last: bigint;
  previousHash: Uint8Array;
  hash: Uint8Array;
}

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

export function headerLine({ tenantId, first, last, previousHash }: Omit<Segment, "hash">): string {
  const header: SegmentHeader = {
    object: "audit_segment",
    format: 1,
    tenant_id: tenantId === nilTenantId ? null : showId("tnt", tenantId),
    first_number: Number(first),
    last_number: Number(last),
    previous_hash: hex(previousHash),
  };
  return JSON.stringify(header);
}

/** Undefined if the line is not exactly a header. */
export function readHeader(line: string): Omit<Segment, "hash"> | undefined {
  const header = parse(line) as Partial<SegmentHeader> | undefined;
  if (header?.object !== "audit_segment" || header.format !== 1) return undefined;
  const { tenant_id, first_number, last_number, previous_hash } = header;
  const tenantId = tenant_id === null ? nilTenantId : readId("tnt", String(tenant_id));
  if (tenantId === undefined || !isNumber(first_number) || !isNumber(last_number)) return undefined;
  if (typeof previous_hash !== "string" || first_number > last_number) return undefined;
  const found = {
    tenantId,
    first: BigInt(first_number),
    last: BigInt(last_number),
    previousHash: Buffer.from(previous_hash, "hex"),
  };
  return headerLine(found) === line ? found : undefined;
}

/** An entry as `GET /v1/audit` shows it, with the key of its hash. Fields without a value are null. */
export function entryLine(entry: ChainedAuditEntry): string {
  const { number, occurredAt, clientId, tokenId, sessionId = null, requestId, keyId, hash } = entry;
  const { actor, action, object, objects = null, outcome, code, reason = null, repeated, address } = entry;
  return JSON.stringify({
    number: Number(number),
    occurred_at: occurredAt.toISOString(),
    actor,
    client_id: clientId === null ? null : showId("cli", clientId),
    token_id: tokenId === null ? null : showId("tok", tokenId),
    // Left out if there is none, as in files from before they were recorded. So is the reason.
    ...(sessionId === null ? {} : { session_id: showId("ses", sessionId) }),
    action,
    object,
    objects,
    outcome,
    code,
    ...(reason === null ? {} : { reason }),
    repeated,
    request_id: requestId,
    address,
    key_id: keyId,
    hash: hex(hash),
  });
}

/** Undefined if the line is not exactly what `entryLine` writes, so that two readers cannot understand it differently. */
export function readEntry(tenantId: string, line: string): ChainedAuditEntry | undefined {
  const found = parse(line);
  if (found === undefined || !isNumber(found["number"])) return undefined;
  const text = (name: string) => (found[name] === null ? null : String(found[name]));
  const id = (prefix: "cli" | "tok" | "ses", name: string) => {
    const shown = text(name);
    return shown === null ? null : (readId(prefix, shown) ?? null);
  };
  const occurredAt = new Date(String(found["occurred_at"]));
  if (Number.isNaN(occurredAt.getTime())) return undefined;
  const entry: ChainedAuditEntry = {
    tenantId,
    number: BigInt(found["number"]),
    occurredAt,
    actor: String(found["actor"]) as ChainedAuditEntry["actor"],
    clientId: id("cli", "client_id"),
    tokenId: id("tok", "token_id"),
    sessionId: found["session_id"] === undefined ? null : id("ses", "session_id"),
    action: String(found["action"]),
    object: text("object"),
    objects: Array.isArray(found["objects"]) ? found["objects"].map(String) : null,
    outcome: String(found["outcome"]) as ChainedAuditEntry["outcome"],
    code: text("code"),
    reason: found["reason"] === undefined ? null : text("reason"),
    repeated: Number(found["repeated"]),
    requestId: text("request_id"),
    address: text("address"),
    keyId: text("key_id"),
    hash: Buffer.from(String(found["hash"]), "hex"),
  };
  return entryLine(entry) === line ? entry : undefined;
}

export function endLine(keys: IntegrityKeys, hash: Uint8Array, digest: Uint8Array, time: Date): string {
  const statement = {
    object: "audit_segment_end" as const,
    hash: hex(hash),
    digest: hex(digest),
    time: time.toISOString(),
    key_id: keys.currentId,
  };
  const end: SegmentEnd = { ...statement, signature: signStatement(keys, "audit segment", statement) };
  return JSON.stringify(end);
}

/** What is wrong with the end of a segment; undefined if it is signed and states this hash and digest. */
export function faultOfEnd(
  keys: IntegrityKeys,
  line: string,
  { hash, digest }: { hash: Uint8Array; digest: Uint8Array },
): string | undefined {
  const end = parse(line) as SegmentEnd | undefined;
  const isEnd =
    end?.object === "audit_segment_end" &&
    typeof end.signature === "string" &&
    typeof end.key_id === "string" &&
    JSON.stringify(end) === line;
  if (!isEnd) return "the signed end is missing: the file was cut";
  if (end.digest !== hex(digest) || end.hash !== hex(hash))
    return "the file was changed: its content does not match its signed end";
  const { signature, ...statement } = end;
  return isStatementAuthentic(keys, "audit segment", statement, signature)
    ? undefined
    : `the signature, with the master key ${end.key_id}, is invalid`;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
