import { type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { CheckDocument } from "./check-document.js";
import type { PolicyStore, StoredPolicy } from "./policy.js";

export interface ReplacePolicyDeps {
  store: Pick<PolicyStore, "writePolicy">;
  checkDocument: CheckDocument;
  now: () => number;
}

export type ReplacePolicy = (
  origin: ClientOrigin,
  /** The version that the client read last. */
  expectedVersion: number,
  document: unknown,
) => Promise<StoredPolicy | Refused>;

/** Puts a new policy in force, unless it has been replaced since the client read it. */
export function createPolicyReplacer({ store, checkDocument, now }: ReplacePolicyDeps): ReplacePolicy {
  return async (origin, expectedVersion, given) => {
    const { tenantId, clientId } = origin.principal;
    const checked = await checkDocument(tenantId, given, "body");
    if (isRefused(checked)) return checked;
    const createdAt = new Date(now());
    const written = await store.writePolicy(
      tenantId,
      expectedVersion,
      { document: checked.document, clientId, createdAt },
      describeAct(origin, "policy.replace", `policy/${expectedVersion + 1}`, createdAt),
    );
    return written ?? { refused: "PRECONDITION_FAILED" };
  };
}
