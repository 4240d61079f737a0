import type { ErrorEntry } from "./error-entry.js";

/** The errors of policies, approvals and allow-lists. */
export const policyErrors = {
  POLICY_REJECTED: {
    status: 403,
    message: "Policy refuses it.",
    when: "a rule of the tenant's policy refuses the request, or does not let this client approve",
    advice: "Do not repeat it unchanged; `message` gives the rule's reason.",
    retry: "never",
  },
  POLICY_VERSION_NOT_FOUND: {
    status: 404,
    message: "The policy has no such version.",
    when: "the tenant's policy never had the version that `version` asks for",
    advice: "See `GET /v1/policy/versions` for those that there are.",
    retry: "never",
  },
  DESTINATION_NOT_FOUND: {
    status: 404,
    message: "There is no such destination.",
    when: "the tenant has no destination with this id, or has removed it",
    advice: "Check the id.",
    retry: "never",
  },
  NOT_AWAITING_APPROVAL: {
    status: 409,
    message: "The transaction does not wait for approval.",
    when: "nobody was asked, or the transaction has gone on or ended since",
    advice: "Read the transaction to see what became of it.",
    retry: "never",
  },
  APPROVAL_STALE: {
    status: 409,
    message: "The digest is not that of this transaction.",
    when: "`digest` does not stand for what will be sent",
    advice: "Read the transaction again, look at what it says, and name the digest that it shows.",
    retry: "never",
  },
  DESTINATION_EXISTS: {
    status: 409,
    message: "This address is on the allow-list already.",
    when: "a destination with the same network and address is listed, or waits to be",
    advice: "Use the one that is there; to change its label, remove it first.",
    retry: "never",
  },
  PRECONDITION_FAILED: {
    status: 412,
    message: "The policy has been changed since it was read.",
    when: "`If-Match` names another version of the policy than the one in force",
    advice: "Read the policy again, make the change in it, and send the new `ETag`.",
    retry: "never",
  },
  CLIENT_UNKNOWN: {
    status: 422,
    message: "There is no such client.",
    when: "`client_id` names a client that the tenant does not have",
    advice: "Check the id, or leave it out.",
    retry: "never",
  },
  POLICY_INVALID: {
    status: 422,
    message: "The policy cannot be put in force.",
    when: "a policy has faults: in its form, or because it names what the tenant or the service does not have",
    advice: "Correct the fields named in `details`, each with its rule.",
    retry: "never",
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    message: "If-Match must name the version of the policy that is to be replaced.",
    when: "`PUT /v1/policy` comes without `If-Match`, or with `*`, which names none",
    advice: "Read the policy and send its `ETag`.",
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
