import { createHash } from "node:crypto";
import {
  type CompiledPolicy,
  compilePolicy,
  type PolicyCompilation,
  type PolicyDocument,
  type PolicyWorld,
} from "@bursar/domain";
import { LRUCache } from "lru-cache";
import type { StoredPolicy } from "./policy.js";

/**
 * Compiles policies, and keeps what it has compiled: the document of a request, of the version in force and of its guards is needed several
 * times for one change. Looking up the largest document takes less than 1 ms, and compiling it 6 ms.
 */
export interface PolicyCompiler {
  compile: (document: unknown) => PolicyCompilation;
  /** A stored document as it is in force. If it no longer compiles, it allows nothing, but who approves its changes stays. */
  compileStored: (stored: Pick<StoredPolicy, "document">) => CompiledPolicy;
}

/** The total length of the documents whose compiled forms are kept: 32 of the largest, or thousands of ordinary ones. */
const keptLengthMax = 8 * 1024 * 1024;

export function createPolicyCompiler(world: PolicyWorld): PolicyCompiler {
  const kept = new LRUCache<string, Exclude<PolicyCompilation, { policy?: never }>>({
    maxSize: keptLengthMax,
    maxEntrySize: keptLengthMax,
  });

  function compile(document: unknown): PolicyCompilation {
    const text = JSON.stringify(document) ?? "";
    const digest = createHash("sha256").update(text).digest("base64");
    const known = kept.get(digest);
    if (known !== undefined) return known;
    const compiled = compilePolicy(document, world);
    if (compiled.policy !== undefined) kept.set(digest, compiled, { size: Math.max(1, text.length) });
    return compiled;
  }

  return {
    compile,
    compileStored: ({ document }) => {
      const { policy } = compile(document);
      if (policy !== undefined) return policy;
      const { groups, changes } = document;
      const members = {
        ...(groups === undefined ? {} : { groups }),
        ...(changes === undefined ? {} : { changes }),
      };
      const closed = compile({ ...closedPolicy, ...members }).policy;
      return closed ?? (compile(closedPolicy).policy as CompiledPolicy);
    },
  };
}

/** A document was valid when it was stored, but names an asset, a network or a market that is no longer configured. */
const closedPolicy: PolicyDocument = {
  rules: [],
  default: {
    action: "reject",
    reason:
      "The policy names an asset, a network or a market that is no longer configured. Replace the policy, or restore the configuration.",
  },
};
