import { type Policy, showId } from "@bursar/protocol";
import type { PolicyVersion, StoredPolicy } from "./policy.js";

/** Builds the public representation of a policy version. */
export function presentPolicy({ version, document, updatedAt }: StoredPolicy): Policy {
  return { object: "policy", version, document, updated_at: updatedAt?.toISOString() ?? null };
}

export function presentPolicyVersion({ version, clientId, createdAt }: PolicyVersion) {
  return {
    object: "policy_version" as const,
    version,
    created_by: clientId === null ? null : showId("cli", clientId),
    created_at: createdAt.toISOString(),
  };
}
