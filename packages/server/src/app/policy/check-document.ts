import {
  type CompiledPolicy,
  compilePolicy,
  type PolicyDocument,
  type PolicyFault,
  type PolicyReference,
  type PolicyWorld,
  policyLimits,
} from "@bursar/domain";
import type { Refused } from "../requests/refused.js";
import type { PolicyStore } from "./policy.js";

export interface CheckDocumentDeps {
  store: Pick<PolicyStore, "findOwn">;
  world: PolicyWorld;
}

/** A document that could be put in force, and how it would judge. */
interface CheckedDocument {
  document: PolicyDocument;
  policy: CompiledPolicy;
}

export type CheckDocument = (
  tenantId: string,
  document: unknown,
  /** Where the document stands in the request. */
  path: string,
) => Promise<CheckedDocument | Refused>;

/** Here and not where documents are compiled: one that is in force stays so. */
const tooManyWindows: PolicyFault = {
  rule: null,
  field: "rules",
  reason: `use more than ${policyLimits.windowsMax} different sums and counts; reuse the same periods`,
};

/** No more than the domain tells of its own faults: an answer has a bound. */
const faultsMax = 100;

/** Reads a document and looks up whom it names; all that is wrong with it is said at once. */
export function createDocumentChecker({ store, world }: CheckDocumentDeps): CheckDocument {
  return async (tenantId, document, path) => {
    const { policy, references, faults } = compilePolicy(document, world);
    if (faults !== undefined) return refuse(faults, path);
    if (policy.windows.length > policyLimits.windowsMax) return refuse([tooManyWindows], path);
    const unknown = await findUnknown(store, tenantId, references);
    if (unknown.length > 0) return refuse(unknown, path);
    return { document: document as PolicyDocument, policy };
  };
}

/** Wallets and clients are never removed, so what is found here is still there when the document is written. */
async function findUnknown(
  store: CheckDocumentDeps["store"],
  tenantId: string,
  references: readonly PolicyReference[],
): Promise<PolicyFault[]> {
  const ofKind = async (kind: PolicyReference["kind"]) => {
    const named = references.filter((reference) => reference.kind === kind);
    if (named.length === 0) return [];
    const own = await store.findOwn(tenantId, kind, [...new Set(named.map(({ id }) => id))]);
    return named
      .filter(({ id }) => !own.has(id))
      .map(({ rule, field }) => ({ rule, field, reason: `is not a ${kind} of this tenant` }));
  };
  return [...(await ofKind("wallet")), ...(await ofKind("client"))].slice(0, faultsMax);
}

function refuse(faults: readonly PolicyFault[], path: string): Refused {
  return {
    refused: "POLICY_INVALID",
    details: faults.map(({ rule, field, reason }) => ({
      path: field === "" ? path : `${path}.${field}`,
      reason,
      ...(rule === null ? {} : { rule }),
    })),
  };
}
