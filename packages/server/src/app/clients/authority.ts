import { allScopes, type Scope } from "@bursar/protocol";
import type { Origin } from "../audit/act.js";
import type { Refused } from "../refused.js";

/**
 * Nobody gives away more than they have, and nobody touches a client that may do more than they may: whoever could give such a
 * client a new secret could become it. A person at the command line has the database and is not limited.
 */
export function refuseBeyondAuthority(origin: Origin, scopes: readonly Scope[]): Refused | undefined {
  const held = origin.by === "operator" ? new Set(allScopes) : origin.principal.scopes;
  const missing = scopes.filter((scope) => !held.has(scope));
  if (missing.length === 0) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `This needs the caller to hold ${missing.join(", ")}.` };
}
