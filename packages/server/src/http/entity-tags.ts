import type { Transaction } from "@bursar/protocol";
import { Refusal } from "./refusal.js";

/** Whether `If-None-Match` names this tag, or any (RFC 9110, 13.1.2): a list of tags, compared without regard to weakness. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === tag || ifNoneMatch === "*") return true;
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return named.includes(tag.replace(/^W\//, ""));
}

/** The ETag of a transaction: its id, its version, and whether its cancellation was requested. Weak, because new fields may be added without a new version. */
export function transactionTag(
  { id, version, cancel_request }: Pick<Transaction, "id" | "version" | "cancel_request">,
  suffix: string,
): string {
  return `W/"${id}-${version}${cancel_request === null ? "" : "c"}${suffix}"`;
}

/** The latest version of a transaction that `If-None-Match` names; undefined if it names none. */
export function knownVersion(
  ifNoneMatch: string | undefined,
  id: string,
  suffix: string,
): number | undefined {
  if (ifNoneMatch === undefined) return undefined;
  const tags = ifNoneMatch.matchAll(/"(tx_[0-9a-z]{26})-(\d{1,9})c?(|-[0-9a-z]{8})"/g);
  const versions = [...tags].flatMap(([, of, version, epoch]) =>
    of === id && epoch === suffix ? [Number(version)] : [],
  );
  return versions.length === 0 ? undefined : Math.max(...versions);
}

/** The ETag of a policy: its version. */
export function policyTag(version: number): string {
  return `"${version}"`;
}

/**
 * The policy version that a writer has read, from `If-Match`. A `*` matches any version and would overwrite a concurrent change, so it
 * counts as missing.
 */
export function expectedVersion(ifMatch: string | undefined): number {
  if (ifMatch === undefined || ifMatch.trim() === "*") throw new Refusal("PRECONDITION_REQUIRED");
  const match = /^"(0|[1-9]\d{0,8})"$/.exec(ifMatch.trim());
  if (match === null)
    throw new Refusal("PRECONDITION_FAILED", { message: "If-Match is not a policy version." });
  return Number(match[1]);
}
