import { Refusal } from "../../refusal.js";

/** The ETag of a policy: its version. */
export function policyTag(version: number): string {
  return `"${version}"`;
}

/**
 * The version that a writer has read, from `If-Match`. A `*` matches any version and would overwrite a concurrent change, so it counts
 * as missing.
 */
export function expectedVersion(ifMatch: string | undefined): number {
  if (ifMatch === undefined || ifMatch.trim() === "*") throw new Refusal("PRECONDITION_REQUIRED");
  const match = /^"(0|[1-9]\d{0,8})"$/.exec(ifMatch.trim());
  if (match === null)
    throw new Refusal("PRECONDITION_FAILED", { message: "If-Match is not a policy version." });
  return Number(match[1]);
}
