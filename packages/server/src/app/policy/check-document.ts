import {
  type CompiledPolicy,
  countReferences,
  type PolicyDocument,
  type PolicyFault,
  type PolicyReference,
  policyLimits,
} from "@bursar/domain";
import type { Refused } from "../requests/refused.js";
import type { PolicyStore } from "./policy.js";
import type { PolicyCompiler } from "./policy-compiler.js";

export interface CheckDocumentDeps {
  store: Pick<PolicyStore, "findOwn">;
  compiler: Pick<PolicyCompiler, "compile">;
}

/** A valid document and its compiled form. */
interface CheckedDocument {
  document: PolicyDocument;
  policy: CompiledPolicy;
}

export type CheckDocument = (
  tenantId: string,
  document: unknown,
  /** The path of the document in the request. */
  path: string,
) => Promise<CheckedDocument | Refused>;

/** Checked here and not by the compiler, so that a stored policy stays in force if the limit is lowered. */
const tooManyWindows: PolicyFault = {
  rule: null,
  field: "rules",
  reason: `use more than ${policyLimits.windowsMax} different sums and counts; reuse the same periods`,
};

/** Checked before compiling, which takes time in proportion to them. */
function tooManyReferences(count: number): PolicyFault {
  return {
    rule: null,
    field: "",
    reason: `lists ${count} wallets, clients, group members and other references; the limit is ${policyLimits.referencesMax}`,
  };
}

/** The response is bounded: no more faults than the compiler reports. */
const faultsMax = 100;

/** Validates a document and looks up the wallets and clients that it names. All faults are reported together. */
export function createDocumentChecker({ store, compiler }: CheckDocumentDeps): CheckDocument {
  return async (tenantId, document, path) => {
    const count = countReferences(document);
    if (count > policyLimits.referencesMax) return refuse([tooManyReferences(count)], path);
    const { policy, references, faults } = compiler.compile(document);
    if (faults !== undefined) return refuse(faults, path);
    if (policy.windows.length > policyLimits.windowsMax) return refuse([tooManyWindows], path);
    const unknown = await findUnknown(store, tenantId, references);
    if (unknown.length > 0) return refuse(unknown, path);
    return { document: document as PolicyDocument, policy };
  };
}

/** Wallets and clients are never deleted, so the result still holds when the document is stored. */
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
