import { type ErrorEntry, reportIt } from "./error-entry.js";

/** The errors of policies, approvals and allow-lists. */
export const policyErrors = {
  POLICY_REJECTED: {
    status: 403,
    message: "Rejected by policy.",
    when: "a rule of the tenant's policy rejects the request, or does not allow this client to approve",
    advice: "Do not retry unchanged; `message` gives the rule's reason.",
    forPeople:
      "The reason is that of a rule of your policy. Somebody who may change the policy can say more.",
    retry: "never",
  },
  LIMITS_NOT_READY: {
    status: 503,
    message: "The sums of a new limit are being computed from past transactions.",
    when: "a policy has a sum or count that the policy in force does not have, and the tenant has so many transactions that it cannot be computed within one request",
    advice:
      "Repeat the request, after `Retry-After` if it is given: each attempt continues where the last one ended.",
    forPeople: "Try again in a moment: each attempt continues where the last one ended.",
    retry: "later",
  },
  POLICY_VERSION_NOT_FOUND: {
    status: 404,
    message: "Policy version not found.",
    when: "the tenant's policy never had the version in `version`",
    advice: "See `GET /v1/policy/versions`.",
    forPeople: "Choose one of the versions that are listed.",
    retry: "never",
  },
  DESTINATION_NOT_FOUND: {
    status: 404,
    message: "Destination not found.",
    when: "the tenant has no destination with this id, or has removed it",
    advice: "Check the id.",
    retry: "never",
  },
  NOT_AWAITING_APPROVAL: {
    status: 409,
    message: "The transaction is not awaiting approval.",
    when: "no approval was required, or the transaction is no longer awaiting one",
    advice: "Read the transaction to see its state.",
    forPeople: "Load the payment again to see its state.",
    retry: "never",
  },
  APPROVAL_LIMIT_REACHED: {
    status: 409,
    message: "The maximum number of approvals has been recorded.",
    when: "a transaction or change request already has 50 recorded approvals and still waits, because too few of them count",
    advice:
      "Create the transaction or change request again, and let independent clients approve it. It can still be rejected.",
    forPeople:
      "Request the payment or the change again, and let independent people approve it. It can still be rejected.",
    retry: "never",
  },
  APPROVAL_STALE: {
    status: 409,
    message: "The digest does not match the transaction.",
    when: "`digest` differs from that of the transaction",
    advice: "Read the transaction again, review it, and send the digest that it shows.",
    forPeople: "Load the payment again, and review it as it is now.",
    retry: "never",
  },
  TRANSACTION_TAMPERED: {
    status: 409,
    message: "The transaction was changed in the database.",
    when: "something other than the service has changed what the transaction pays, where to, or who requested it; it is not processed",
    advice: "Ask the operator, who restores the row and runs `bursar failures retry`.",
    retry: "never",
  },
  DESTINATION_EXISTS: {
    status: 409,
    message: "This address is already on the allow-list.",
    when: "a destination with the same network and address is active or waiting",
    advice: "Use the existing one; to change its label, remove it first.",
    retry: "never",
  },
  PRECONDITION_FAILED: {
    status: 412,
    message: "The policy has been changed since it was read.",
    when: "`If-Match` does not name the version of the policy that is in force",
    advice: "Read the policy again, apply the change to it, and send the new `ETag`.",
    forPeople: "Somebody else changed it meanwhile. Load it again and compare.",
    retry: "never",
  },
  CLIENT_UNKNOWN: {
    status: 422,
    message: "Unknown client.",
    when: "`client_id` names a client that the tenant does not have",
    advice: "Check the id, or omit it.",
    retry: "never",
  },
  POLICY_INVALID: {
    status: 422,
    message: "The policy is not valid.",
    when: "a policy document is malformed, or refers to something that the tenant or the service does not have",
    advice: "Correct the fields named in `details`, each with its rule.",
    forPeople: "Correct what is named here.",
    retry: "never",
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    message: "If-Match must name the policy version to replace.",
    when: "`PUT /v1/policy` has no `If-Match`, or has `*`, which names no version",
    advice: "Read the policy and send its `ETag`.",
    forPeople: reportIt,
    retry: "never",
  },
} as const satisfies Record<string, ErrorEntry>;
