import { Refusal } from "../../refusal.js";

/** The ETag of a policy: its version. */
export function policyTag(version: number): string {
  return `"${version}"`;
}

/**
 * The version that a writer has seen, from `If-Match`. A `*` would match whatever is in force, and so overwrite what somebody else
 * has just written: it is answered as if nothing had been sent.
 */
export function expectedVersion(ifMatch: string | undefined): number {
  if (ifMatch === undefined || ifMatch.trim() === "*") throw new Refusal("PRECONDITION_REQUIRED");
  const match = /^"(0|[1-9]\d{0,8})"$/.exec(ifMatch.trim());
  if (match === null)
    throw new Refusal("PRECONDITION_FAILED", { message: "If-Match is no version of the policy." });
  return Number(match[1]);
}
